"""Both generations of the client, below any SDK: bodies, encodings, methods, redirects, auth."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any

import httpx
import httpx2
import pytest

import rewind
from rewind.integrations import auto_patch
from rewind.testing import Interaction, StandIn


@pytest.fixture(autouse=True)
def everything():
    undo = auto_patch()
    yield
    undo()


@pytest.fixture(params=[httpx, httpx2], ids=["httpx", "httpx2"])
def lib(request):
    return request.param


def test_unknown_traffic_is_kind_http(twice, lib):
    def agent(url):
        with lib.Client() as http:
            return http.get(f"{url}/weather?city=Bern").json()

    answer = Interaction.answer("/weather?city=Bern", {"t": 3}).having(method="GET")
    live, replayed, trace = twice(agent, answer)
    assert live == replayed == {"t": 3}
    event = trace.events[0]
    assert (event.name, event.kind, event.upstream) == ("http.GET", "http", "upstream-0")


def test_async_clients(twice, lib):
    def agent(url):
        async def main():
            async with lib.AsyncClient() as http:
                response = await http.post(f"{url}/a", json={"x": 1})
                return response.json(), response.elapsed.total_seconds() >= 0

        return asyncio.run(main())

    live, replayed, _ = twice(agent, Interaction.answer("/a", [1, 2]))
    assert live == replayed


def test_compressed_bodies_are_stored_readable(twice, lib):
    def agent(url):
        with lib.Client() as http:
            response = http.get(f"{url}/z")
            return response.text, response.headers["content-encoding"]

    headers = (("content-type", "text/plain"), ("content-encoding", "gzip"))
    answer = Interaction(
        method="GET", path="/z", headers=headers, chunks=(gzip.compress(b"plain words"),)
    )
    live, replayed, trace = twice(agent, answer)
    assert live == replayed == ("plain words", "gzip")
    assert b"plain words" in bytes(trace.events[0].body.data)


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("DELETE", 204), ("GET", 200)])
def test_empty_bodies(twice, lib, method, status):
    def agent(url):
        with lib.Client() as http:
            response = http.request(method, f"{url}/x")
            return response.status_code, response.content

    live, replayed, trace = twice(agent, Interaction(method=method, path="/x", status=status))
    assert live == replayed == (status, b"")
    assert trace.events[0].truncated is None


def test_one_shot_bodies_are_sent_and_matched(path, lib):
    def agent(url):
        with lib.Client() as http:
            parts = (part for part in (b"one", b"two"))
            return http.post(f"{url}/up", content=parts).json()

    with StandIn(Interaction.answer("/up", {"ok": True})) as server:
        url = server.url
        with rewind.record(path):
            live = agent(url)
        assert server.requests[0].body == b"onetwo"
        assert server.requests[0].headers["transfer-encoding"] == "chunked"
    with rewind.replay(path):
        assert agent(url) == live


def test_async_one_shot_bodies(path, lib):
    async def parts():
        yield b"one"
        yield b"two"

    async def agent(url: str) -> Any:
        async with lib.AsyncClient() as http:
            return (await http.post(f"{url}/up", content=parts())).json()

    with StandIn(Interaction.answer("/up", {"ok": True})) as server:
        url = server.url
        with rewind.record(path):
            live = asyncio.run(agent(url))
        assert server.requests[0].body == b"onetwo"
        assert server.requests[0].headers["transfer-encoding"] == "chunked"
    with rewind.replay(path):
        assert asyncio.run(agent(url)) == live


def test_a_body_that_fails_fails_as_without_a_session(path, lib):
    def broken():
        yield b"one"
        raise KeyError("mine")

    with StandIn([]) as server, rewind.record(path), lib.Client() as http:
        with pytest.raises(KeyError, match="mine"):
            http.post(f"{server.url}/up", content=broken())


def test_redirects_hooks_and_auth_run_on_replay(twice, lib):
    calls = []

    def agent(url):
        hooks = {"response": [lambda response: calls.append(response.status_code)]}
        with lib.Client(follow_redirects=True, event_hooks=hooks, auth=("me", "pw")) as http:
            response = http.get(f"{url}/old")
            return response.json(), [str(r.status_code) for r in response.history]

    there = (("location", "/new"), ("content-type", "application/json"))
    moved = Interaction(method="GET", path="/old", status=302, headers=there)
    found = Interaction.answer("/new", {"n": 1}).having(method="GET")
    live, replayed, trace = twice(agent, moved, found)
    assert live == replayed
    assert calls == [302, 200, 302, 200]
    assert len(trace) == 2


def test_cookies_are_secrets_and_come_back_masked(twice, lib):
    def agent(url):
        with lib.Client() as http:
            return http.get(f"{url}/c").text, dict(http.cookies)

    headers = (("content-type", "text/plain"), ("set-cookie", "sid=abcdef; Path=/"))
    answer = Interaction(method="GET", path="/c", headers=headers, chunks=(b"x",))
    live, replayed, trace = twice(agent, answer)
    assert live == ("x", {"sid": "abcdef"})
    assert replayed == ("x", {"sid": "<secret>"})
    assert "abcdef" not in trace.path.read_text(encoding="utf-8")


def test_mock_transports_are_recorded_like_servers(path, lib):
    def agent(answer):
        transport = lib.MockTransport(lambda _request: lib.Response(200, json={"v": answer}))
        with lib.Client(transport=transport) as http:
            return http.get("https://api.example.com/v").json()

    with rewind.record(path):
        assert agent(1) == {"v": 1}
    with rewind.replay(path):
        assert agent(2) == {"v": 1}


def test_ignored_hosts_are_left_alone(path, lib):
    answers = [Interaction.answer("/a", {}).having(method="GET")] * 2
    with StandIn(answers) as server:
        with rewind.record(path, ignore=["127.0.0.1"]), lib.Client() as http:
            http.get(f"{server.url}/a")
        assert len(rewind.Trace.open(path)) == 0


def test_transport_errors_are_raised_from_the_same_class(path, lib):
    with StandIn([]) as server:
        url = server.url
    for session in (rewind.record, rewind.replay):
        with session(path), lib.Client() as http:
            with pytest.raises(lib.ConnectError) as caught:
                http.get(f"{url}/x")
            assert str(caught.value.request.url) == f"{url}/x"


def test_a_session_can_capture_everything_without_a_patch(path, everything, lib):
    with StandIn(Interaction.answer("/a", {"x": 1}).having(method="GET")) as server:
        with rewind.record(path, capture_all=True), lib.Client() as http:
            http.get(f"{server.url}/a")
    assert [event.name for event in rewind.Trace.open(path)] == ["http.GET"]


def test_a_large_download_is_written_as_it_is_read(path, lib):
    with StandIn(
        Interaction(
            method="GET",
            path="/big",
            headers=(("content-type", "application/octet-stream"),),
            chunks=(b"\x00\x01" * 30_000,) * 40,
            streamed=True,
        )
    ) as server:
        url = server.url
        with rewind.record(path), lib.Client() as http:
            live = http.get(f"{url}/big").content
    with rewind.replay(path), lib.Client() as http:
        assert http.get(f"{url}/big").content == live
    assert rewind.Trace.open(path).events[0].stream
