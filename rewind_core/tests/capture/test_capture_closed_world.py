"""During replay nothing of the session goes live, nothing waits, and telemetry stays quiet."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import socket
import threading
import time
import uuid

import anyio
import httpx2
import langsmith
import openai
import pytest
import requests
import urllib3

import rewind
from rewind.testing import Interaction, StandIn

ELSEWHERE = "192.0.2.1"


@pytest.fixture
def empty(path):
    with rewind.record(path):
        pass
    return path


def test_connections_elsewhere_are_refused(empty):
    with rewind.replay(empty) as session:
        with socket.socket() as sock, pytest.raises(rewind.DivergenceError, match="allow_hosts"):
            sock.connect((ELSEWHERE, 80))
        with pytest.raises(rewind.DivergenceError, match=r"api\.example\.com"):
            socket.getaddrinfo("api.example.com", 443)
        session.acknowledge()
    assert "connect" not in vars(socket.socket)


def test_async_connections_are_refused(empty):
    async def dial():
        await asyncio.open_connection("api.example.com", 443)

    with rewind.replay(empty) as session:
        with pytest.raises(rewind.DivergenceError):
            asyncio.run(dial())
        session.acknowledge()


@pytest.mark.parametrize("host", ["api.example.com", ELSEWHERE])
def test_connections_of_uvloop_are_refused(empty, host):
    uvloop = pytest.importorskip("uvloop")

    async def dial():
        async with httpx2.AsyncClient() as http:
            await http.get(f"https://{host}/")

    with rewind.replay(empty) as session:
        with pytest.raises(rewind.DivergenceError):
            uvloop.run(dial())
        session.acknowledge()


@pytest.mark.parametrize("client", [httpx2.get, requests.get], ids=["httpx2", "requests"])
def test_an_uncaptured_request_is_refused(empty, client):
    with rewind.replay(empty) as session:
        with pytest.raises(rewind.DivergenceError, match=r"api\.example\.com"):
            client("https://api.example.com/x")
        session.acknowledge()


def test_a_refusal_inside_a_library_is_noted(empty):
    with rewind.replay(empty) as session:
        with contextlib.suppress(BaseException):
            httpx2.get(f"http://{ELSEWHERE}/")
        assert len(session.misses) == 1
        session.acknowledge()


def test_loopback_and_allowed_hosts_pass(empty):
    with StandIn(Interaction.answer("/", {}).having(method="GET")) as server:
        with rewind.replay(empty):
            assert httpx2.get(f"{server.url}/").status_code == 200
    with rewind.replay(empty, allow_hosts=[ELSEWHERE]), socket.socket() as sock:
        sock.setblocking(False)
        assert sock.connect_ex((ELSEWHERE, 80)) != 0


def test_code_outside_the_session_is_left_alone(empty):
    def outside():
        with socket.socket() as sock:
            sock.setblocking(False)
            return sock.connect_ex((ELSEWHERE, 80)) != 0

    with rewind.replay(empty):
        assert contextvars.Context().run(outside)


UPLOADS = [
    ("https://api.smith.langchain.com/runs/batch", "POST"),
    ("https://api.smith.langchain.com/runs/multipart", "POST"),
    ("https://cloud.langfuse.com/api/public/ingestion", "POST"),
    ("https://otel.example.com/v1/traces", "POST"),
    ("https://api.openai.com/v1/traces/ingest", "POST"),
    ("https://us.i.posthog.com/batch/", "POST"),
    ("https://o1.ingest.sentry.io/api/42/envelope/", "POST"),
]


@pytest.mark.parametrize(("url", "method"), UPLOADS)
@pytest.mark.parametrize("lib", [httpx2, requests, urllib3], ids=["httpx2", "requests", "urllib3"])
def test_telemetry_is_answered_quietly(empty, lib, url, method):
    with rewind.replay(empty):
        response = lib.request(method, url, json={})
        if lib is urllib3:
            assert (response.status, response.json()) == (200, {})
            return
        assert response.headers["content-type"] == "application/json"
        assert (response.status_code, response.json()) == (200, {})


@pytest.mark.parametrize("lib", [httpx2, requests, urllib3], ids=["httpx2", "requests", "urllib3"])
def test_an_exporter_older_than_the_replay_sends_nothing(empty, lib):
    posts, answers = queue.Queue(), queue.Queue()

    def export():
        for url in iter(posts.get, None):
            answers.put(lib.request("POST", url, json={}))

    exporter = threading.Thread(target=export)
    exporter.start()
    with StandIn(Interaction.answer("/v1/traces", {"sent": True})) as server:
        url = f"{server.url}/v1/traces"
        with rewind.replay(empty):
            posts.put(url)
            assert answers.get(timeout=30).json() == {}
            assert server.requests == []
        posts.put(url)
        assert answers.get(timeout=30).json() == {"sent": True}
    posts.put(None)
    exporter.join()


@pytest.mark.usefixtures("both")
def test_a_tracing_client_that_never_stops_changes_nothing(path, play):
    """The real client of a tracing service, whose own thread uploads a run every few steps."""
    asked = [f"question {number}" for number in range(30)]

    def agent(url, tracing):
        with openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as sdk:
            for text in asked:
                inputs = {"messages": [{"role": "user", "content": text}]}
                run = uuid.uuid4()
                order = f"20261207T101010000000Z{run}"
                tracing.create_run("step", inputs, "llm", id=run, trace_id=run, dotted_order=order)
                sdk.chat.completions.create(model="m", **inputs)
        tracing.flush()

    info = Interaction.answer("/info", {}, method="GET")
    with (
        StandIn([play.chat() for _ in asked]) as model,
        StandIn([info, Interaction.answer("/runs/multipart", {})], match="body") as uploads,
    ):
        tracing = langsmith.Client(api_url=uploads.url, api_key="lsv2_pt_" + "0f" * 20)
        with rewind.record(path):
            agent(model.url, tracing)
        sent, connections = len(uploads.requests), uploads.connections
        assert sent > 0
        with rewind.replay(path) as session:
            agent(model.url, tracing)
            assert session.cursor == len(asked)
        assert (len(uploads.requests), uploads.connections) == (sent, connections)
        assert len(model.requests) == len(asked)
        tracing.cleanup()
    assert [event.name for event in rewind.Trace.open(path)] == ["openai.chat"] * len(asked)


def test_telemetry_is_not_recorded(path):
    with StandIn(Interaction.answer("/v1/traces", {})) as server:
        with rewind.record(path, capture_all=True):
            httpx2.post(f"{server.url}/v1/traces", content=b"x")
        assert len(server.requests) == 1
    assert len(rewind.Trace.open(path)) == 0


def test_sleeps_of_sdk_code_are_cut_short_and_those_of_the_agent_are_not(empty):
    sdk = {"__name__": "openai._base_client", "time": time, "anyio": anyio}
    exec("def wait(): time.sleep(30)\nasync def await_(): await anyio.sleep(30)", sdk)
    with rewind.replay(empty):
        start = time.monotonic()
        sdk["wait"]()
        asyncio.run(sdk["await_"]())
        assert time.monotonic() - start < 5
        start = time.monotonic()
        time.sleep(0.05)
        assert time.monotonic() - start >= 0.05
    assert type(time.sleep).__name__ == "builtin_function_or_method"
