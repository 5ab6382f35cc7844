"""What the local provider promises to the tests that use it."""

from __future__ import annotations

import threading
from pathlib import Path

import httpx
import openai
import pytest

from rewind.testing import Interaction, Split, StandIn, load, sample, samples

ANSWERS = [Interaction.answer("/v1/ask", {"answer": number}) for number in range(3)]


def ask(provider: StandIn, **options: object) -> httpx.Response:
    return httpx.post(f"{provider.url}/v1/ask", json=options, trust_env=False)


def test_a_run_answers_each_path_in_order_and_once() -> None:
    with StandIn(ANSWERS) as provider:
        assert [ask(provider).json()["answer"] for _ in range(3)] == [0, 1, 2]
        assert provider.remaining == 0
        over = ask(provider, late=True)
    assert over.status_code == 404
    assert "POST /v1/ask" in over.json()["error"]["message"]
    assert provider.unmatched[0].json == {"late": True}


def test_a_body_finds_its_own_answer_as_often_as_asked() -> None:
    known = [
        Interaction.answer("/v1/ask", {"answer": name}, request={"name": name}) for name in "ab"
    ]
    with StandIn(known, match="body") as provider:
        got = [ask(provider, name=name).json()["answer"] for name in "baab"]
    assert got == list("baab")


def test_it_tells_what_arrived() -> None:
    with StandIn(ANSWERS[0]) as provider:
        httpx.post(
            f"{provider.url}/v1/ask?x=1", json={"q": 1}, headers={"X-Extra": "yes"}, trust_env=False
        )
    (received,) = provider.requests
    assert (received.method, received.path, received.json) == ("POST", "/v1/ask?x=1", {"q": 1})
    assert received.headers["x-extra"] == "yes"


def test_connections_are_counted_once_each() -> None:
    with StandIn(ANSWERS) as provider, httpx.Client(trust_env=False) as client:
        for _ in range(2):
            client.post(f"{provider.url}/v1/ask", json={})
        assert provider.connections == 1
        ask(provider)
        assert provider.connections == 2


def test_statuses_headers_and_made_up_request_ids() -> None:
    limited = Interaction.answer(
        "/v1/ask", {"error": {}}, status=429, headers=(("retry-after", "2"), ("a", "1"), ("a", "2"))
    )
    with StandIn([limited, limited]) as provider:
        first, second = ask(provider), ask(provider)
    assert first.status_code == 429
    assert first.headers["retry-after"] == "2"
    assert first.headers.get_list("a") == ["1", "2"]
    assert first.headers["x-request-id"].startswith("req_")
    assert first.headers["x-request-id"] == second.headers["request-id"]


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        (Split.EVENTS, [b"data: \xc3\xa4\n\n", b"data: 2\n\n"]),
        (Split.SEVEN_BYTES, [b"data: \xc3", b"\xa4\n\ndata", b": 2\n\n"]),
        (Split.WHOLE, [b"data: \xc3\xa4\n\ndata: 2\n\n"]),
    ],
)
def test_chunk_boundaries_reach_the_client(split: Split, expected: list[bytes]) -> None:
    events = ("data: ä\n\n".encode(), b"data: 2\n\n")
    stream = Interaction(path="/s", chunks=events, streamed=True)
    with (
        StandIn(stream, split=split) as provider,
        httpx.stream("POST", f"{provider.url}/s", trust_env=False) as response,
    ):
        assert list(response.iter_raw()) == expected


def test_a_gate_holds_back_its_chunk() -> None:
    gate = threading.Event()
    stream = Interaction(path="/s", chunks=(b"1", b"2"), streamed=True, gates={1: gate})
    with (
        StandIn(stream) as provider,
        httpx.stream("POST", f"{provider.url}/s", trust_env=False) as response,
    ):
        chunks = response.iter_raw()
        assert next(chunks) == b"1"
        gate.set()
        assert list(chunks) == [b"2"]


def test_it_breaks_the_connection_where_told() -> None:
    stream = Interaction(path="/s", chunks=(b"1", b"2"), streamed=True, drop_after=1)
    with (
        StandIn(stream) as provider,
        httpx.stream("POST", f"{provider.url}/s", trust_env=False) as response,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        response.read()


def test_a_closed_stand_in_answers_nobody() -> None:
    with httpx.Client(trust_env=False) as client:
        with StandIn(ANSWERS) as provider:
            client.post(f"{provider.url}/v1/ask", json={})
        with pytest.raises(httpx.TransportError):
            client.post(f"{provider.url}/v1/ask", json={})
    with pytest.raises(httpx.ConnectError):
        ask(provider)


def test_a_file_is_loaded_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    text = (
        '{"request": {"method": "GET", "path": "/x", "json": null}, "response": '
        '{"status": 200, "headers": {"content-type": "a/b"}, "chunks": ["AAE="], "encoding": "base64"}}'
    )
    path.write_text(text)
    (interaction,) = load(path)
    assert interaction.chunks == (b"\x00\x01",)
    assert interaction.headers == (("content-type", "a/b"),)
    assert interaction.streamed


@pytest.mark.parametrize("name", samples())
def test_every_shipped_run_is_well_formed(name: str) -> None:
    for step in sample(name):
        assert step.status == 200
        assert step.body
        assert step.streamed is dict(step.headers)["content-type"].startswith("text/event-stream")


def test_the_openai_sdk_reads_a_shipped_run() -> None:
    with StandIn(sample("openai-chat-tools")) as provider:
        client = openai.OpenAI(api_key="none", base_url=f"{provider.url}/v1", max_retries=0)
        with client:
            first = client.chat.completions.create(model="m", messages=[])
    assert first.choices[0].finish_reason == "tool_calls"
    assert first._request_id.startswith("req_")
