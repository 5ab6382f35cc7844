"""Streams stay lazy while recorded, and every way to leave one is kept."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from typing import Any

import httpx2
import openai
import pytest

import rewind
from rewind.testing import StandIn

pytestmark = pytest.mark.usefixtures("both")
ASK: Any = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": True}

has_asyncio_timeout = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="asyncio.timeout is new in Python 3.11"
)


def client(url: str) -> openai.OpenAI:
    return openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0)


def text(chunk: Any) -> str:
    return chunk.choices[0].delta.content


def test_the_first_chunk_arrives_before_the_second_is_sent(path, play):
    gate = threading.Event()
    with StandIn([play.chat_stream("a", "b", gates={1: gate})]) as server, rewind.record(path):
        with client(server.url) as sdk:
            stream = iter(sdk.chat.completions.create(**ASK))
            assert text(next(stream)) == "a"
            gate.set()
            assert [text(chunk) for chunk in stream] == ["b"]


def test_leaving_early_records_what_was_seen(twice, play):
    def agent(url):
        with client(url) as sdk, sdk.chat.completions.create(**ASK) as stream:
            return text(next(iter(stream)))

    live, replayed, trace = twice(agent, play.chat_stream("a", "b"))
    assert live == replayed == "a"
    assert trace.events[0].truncated == "closed"
    assert len(trace.events[0].chunks()) >= 1


def test_reading_on_where_the_recording_left_is_a_miss(path, play):
    with StandIn([play.chat_stream("a", "b", gates={1: (gate := threading.Event())})]) as server:
        url = server.url
        with rewind.record(path), client(url) as sdk:
            with sdk.chat.completions.create(**ASK) as stream:
                next(iter(stream))
        gate.set()
    with pytest.raises(rewind.DivergenceError, match="left this response early"):
        with rewind.replay(path), client(url) as sdk:
            list(sdk.chat.completions.create(**ASK))


def test_a_dropped_stream_is_recorded_when_it_is_collected(path, play):
    gate = threading.Event()
    with StandIn([play.chat_stream("a", "b", gates={1: gate})]) as server, rewind.record(path):
        with httpx2.Client() as http:
            request = http.build_request("POST", f"{server.url}/v1/chat/completions", json=ASK)
            response = http.send(request, stream=True)
            chunks = response.iter_bytes()
            assert b'"a"' in next(chunks)
            del chunks, response, request
            gc.collect()
        gate.set()
    (event,) = rewind.Trace.open(path)
    assert event.truncated in {"abandoned", "closed"}
    assert len(event.chunks()) == 1


def test_a_stream_open_at_the_end_of_the_session_is_kept(path, play):
    with StandIn([play.chat_stream("a", "b")]) as server:
        with client(server.url) as sdk:
            with rewind.record(path):
                stream = iter(sdk.chat.completions.create(**ASK))
                next(stream)
            assert [text(chunk) for chunk in stream] == ["b"]
    assert rewind.Trace.open(path).events[0].truncated == "session closed"


def test_a_broken_connection_breaks_again_after_the_same_chunks(twice, play):
    def agent(url):
        seen = []
        with client(url) as sdk:
            try:
                for chunk in sdk.chat.completions.create(**ASK):
                    seen.append(text(chunk))
            except Exception as error:
                return seen, type(error), str(error), type(error.__cause__)
        return seen

    live, replayed, trace = twice(agent, play.chat_stream("a", "b", drop_after=1))
    assert live == replayed
    assert live[0] == ["a"]
    assert len(live) > 1
    assert "RemoteProtocolError" in trace.events[0].error["type"]


@has_asyncio_timeout
def test_a_timeout_while_streaming_cancels_again(path, play):
    async def agent(url: str, limit: float) -> list[str]:
        seen: list[str] = []
        async with openai.AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as sdk:
            try:
                async with asyncio.timeout(limit):
                    async for chunk in await sdk.chat.completions.create(**ASK):
                        seen.append(text(chunk))
            except TimeoutError:
                seen.append("timeout")
        return seen

    gate = threading.Event()
    with StandIn([play.chat_stream("a", "b", gates={1: gate})]) as server:
        url = server.url
        with rewind.record(path):
            assert asyncio.run(agent(url, 0.3)) == ["a", "timeout"]
        gate.set()
    with rewind.replay(path):
        assert asyncio.run(agent(url, 0.3)) == ["a", "timeout"]


@has_asyncio_timeout
def test_a_cancelled_call_is_cancelled_again(path, play):
    async def agent(url: str) -> str:
        async with openai.AsyncOpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as sdk:
            try:
                async with asyncio.timeout(0.2):
                    await sdk.chat.completions.create(model="m", messages=[])
            except TimeoutError:
                return "timeout"
        return "answered"

    gate = threading.Event()
    with StandIn([play.chat(gates={0: gate})]) as server:
        url = server.url
        with rewind.record(path):
            first = asyncio.run(agent(url))
        gate.set()
    with rewind.replay(path):
        assert asyncio.run(agent(url)) == first == "timeout"
