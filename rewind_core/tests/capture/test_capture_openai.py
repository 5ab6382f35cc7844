"""What the openai SDK gives an agent on replay is what it gave live."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest
from pydantic import BaseModel

import rewind
from rewind.testing import Interaction, StandIn

pytestmark = pytest.mark.usefixtures("both")
ASK: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


def client(url: str, **more: Any) -> openai.OpenAI:
    return openai.OpenAI(api_key="sk-anything", base_url=f"{url}/v1", **more)


def async_client(url: str, **more: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(api_key="sk-anything", base_url=f"{url}/v1", **more)


def test_a_plain_call(twice, play):
    def agent(url):
        with client(url) as sdk:
            return sdk.chat.completions.create(**ASK)

    live, replayed, trace = twice(agent, play.chat())
    assert live == replayed
    assert type(live) is type(replayed)
    assert live._request_id == replayed._request_id
    (event,) = trace
    assert (event.name, event.kind, event.ring) == ("openai.chat", "llm", "wire")
    assert event.request == ASK
    assert event.response["choices"][0]["message"]["content"] == "hello"


def test_an_async_call(twice, play):
    def agent(url):
        async def main():
            async with async_client(url) as sdk:
                return await sdk.chat.completions.create(**ASK)

        return asyncio.run(main())

    live, replayed, _ = twice(agent, play.chat())
    assert live == replayed


def test_a_stream(twice, play):
    def agent(url):
        with client(url) as sdk:
            return list(sdk.chat.completions.create(**ASK, stream=True))

    live, replayed, trace = twice(agent, play.chat_stream("a", "b"))
    assert live == replayed
    (event,) = trace
    assert event.stream
    assert event.truncated is None
    assert len(event.chunks()) == 3


def test_an_async_stream(twice, play):
    def agent(url):
        async def main():
            async with async_client(url) as sdk:
                stream = await sdk.chat.completions.create(**ASK, stream=True)
                return [chunk async for chunk in stream]

        return asyncio.run(main())

    live, replayed, trace = twice(agent, play.chat_stream("a", "b"))
    assert live == replayed
    assert [event.truncated for event in trace] == [None]


def test_raw_responses_and_their_headers(twice, play):
    def agent(url):
        with client(url) as sdk:
            raw = sdk.chat.completions.with_raw_response.create(**ASK)
            return (raw.status_code, raw.text, raw.http_request.method, raw.request_id,
                    sorted(raw.headers.items()), raw.parse(), raw.elapsed is None)  # fmt: skip

    headers = (("content-type", "application/json"), ("x-request-id", "req_7"))
    live, replayed, _ = twice(agent, play.chat(headers=headers))
    assert live == replayed
    assert live[3] == "req_7"


def test_streaming_responses(twice, play):
    def agent(url):
        with client(url) as sdk:
            with sdk.chat.completions.with_streaming_response.create(**ASK) as response:
                return list(response.iter_lines()), response.status_code

    live, replayed, _ = twice(agent, play.chat())
    assert live == replayed


def test_parsed_output(twice, play):
    class Answer(BaseModel):
        n: int

    def agent(url):
        with client(url) as sdk:
            return sdk.chat.completions.parse(**ASK, response_format=Answer).choices[0].message

    live, replayed, _ = twice(agent, play.chat('{"n": 3}'))
    assert live == replayed
    assert replayed.parsed == Answer(n=3)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (429, openai.RateLimitError),
        (500, openai.InternalServerError),
    ],
)
def test_http_errors_keep_their_class(twice, play, status, error):
    def agent(url):
        with client(url, max_retries=0) as sdk, pytest.raises(error) as caught:
            sdk.chat.completions.create(**ASK)
        return type(caught.value), str(caught.value), caught.value.status_code, caught.value.body

    live, replayed, trace = twice(agent, play.failure(status))
    assert live == replayed
    assert trace.events[0].error["status"] == status


def test_transport_errors_keep_their_class_and_cause(path, play):
    def agent(url):
        with client(url, max_retries=0) as sdk, pytest.raises(openai.APIConnectionError) as caught:
            sdk.chat.completions.create(**ASK)
        return type(caught.value), str(caught.value), type(caught.value.__cause__)

    with StandIn([]) as server:
        url = server.url
    with rewind.record(path):
        live = agent(url)
    with rewind.replay(path):
        assert agent(url) == live
    assert rewind.Trace.open(path).events[0].error["type"].endswith(":ConnectError")


def test_retries_replay_without_waiting(path, play):
    counts = []

    def agent(url):
        with client(url) as sdk:
            raw = sdk.chat.completions.with_raw_response.create(**ASK)
            counts.append(raw.retries_taken)
            return raw.parse()

    slow = play.failure(429, headers=(("content-type", "application/json"), ("retry-after", "60")))
    quick = (*slow.headers[:1], ("retry-after-ms", "1"))
    with StandIn([slow.having(headers=quick), play.chat()]) as server:
        url = server.url
        with rewind.record(path):
            live = agent(url)
    text = path.read_text(encoding="utf-8")
    assert "retry-after-ms" in text
    with rewind.replay(path):
        assert agent(url) == live
    assert counts == [1, 1]
    assert [event.attempt for event in rewind.Trace.open(path)] == [0, 1]


def test_only_the_final_attempt_on_request(path, play):
    def agent(url):
        with client(url) as sdk:
            return sdk.chat.completions.with_raw_response.create(**ASK).retries_taken

    hint = (("content-type", "application/json"), ("retry-after-ms", "1"))
    with StandIn([play.failure(429, headers=hint), play.chat()]) as server:
        url = server.url
        with rewind.record(path):
            assert agent(url) == 1
    with rewind.replay(path, retries="final"):
        assert agent(url) == 0


def test_another_key_matches_and_no_key_is_stored(path, play):
    with StandIn([play.chat()]) as server, rewind.record(path):
        with openai.OpenAI(api_key="sk-first-1234567890abcdef", base_url=f"{server.url}/v1") as sdk:
            sdk.chat.completions.create(**ASK)
        url = server.url
    assert "sk-first" not in path.read_text(encoding="utf-8")
    with rewind.replay(path), openai.OpenAI(api_key="other", base_url=f"{url}/v1") as sdk:
        sdk.chat.completions.create(**ASK)


def test_another_request_is_a_miss(path, play):
    with StandIn([play.chat()]) as server, rewind.record(path), client(server.url) as sdk:
        sdk.chat.completions.create(**ASK)
    with (
        pytest.raises(rewind.DivergenceError),
        rewind.replay(path),
        client("http://127.0.0.1:1") as sdk,
    ):
        sdk.chat.completions.create(model="m", messages=[{"role": "user", "content": "other"}])


def test_uploads_match_whatever_the_boundary(twice):
    def agent(url):
        with client(url) as sdk:
            return sdk.files.create(file=("a.txt", b"text\x00\xff"), purpose="assistants").id

    answer = {"id": "f", "object": "file", "bytes": 1, "created_at": 1, "filename": "a.txt",
              "purpose": "assistants", "status": "processed"}  # fmt: skip
    live, replayed, trace = twice(agent, Interaction.answer("/v1/files", answer))
    assert live == replayed
    assert (trace.events[0].name, trace.events[0].kind) == ("openai.files", "http")


def test_embeddings(twice):
    def agent(url):
        with client(url) as sdk:
            return sdk.embeddings.create(model="e", input=["x"], encoding_format="float")

    answer = {"object": "list", "model": "e", "data": [
        {"object": "embedding", "index": 0, "embedding": [0.5, -0.25]}],
        "usage": {"prompt_tokens": 1, "total_tokens": 1}}  # fmt: skip
    live, replayed, trace = twice(agent, Interaction.answer("/v1/embeddings", answer))
    assert live == replayed
    assert trace.events[0].name == "openai.embeddings"


def test_azure_clients(twice, play):
    def agent(url):
        with openai.AzureOpenAI(api_key="k", azure_endpoint=url, api_version="2024-10-21") as sdk:
            return sdk.chat.completions.create(**ASK)

    path = "/openai/deployments/m/chat/completions?api-version=2024-10-21"
    live, replayed, trace = twice(agent, play.chat().having(path=path))
    assert live == replayed
    assert trace.events[0].name == "openai.chat"


def test_recording_leaves_the_response_as_it_was(path, play):
    """Headers, classes and reading behave the same with and without a session."""

    def look(url):
        with client(url) as sdk:
            raw = sdk.chat.completions.with_raw_response.create(**ASK)
            response = raw.http_response
            return (type(response), response.is_closed, response.is_stream_consumed,
                    response.num_bytes_downloaded, response.http_version, response.reason_phrase,
                    [name for name, _ in response.headers.raw], type(raw))  # fmt: skip

    with StandIn([play.chat(), play.chat()]) as server:
        plain = look(server.url)
        with rewind.record(path):
            assert look(server.url) == plain
