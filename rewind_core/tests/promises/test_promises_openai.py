"""Promises of the wire, kept with the real openai SDK over real HTTP."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import openai
import pytest

import rewind


class Server:
    """Answers every request with `answer(method, path, body) -> (status, content type, bytes)`."""

    def __init__(self, answer: Callable[[str, str, bytes], tuple[int, str, bytes]]) -> None:
        self.requests = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                outer.requests += 1
                status, kind, data = answer(self.command, self.path, body)
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.send_header("x-request-id", f"req_{outer.requests}")
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = handle_any

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def completion(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


@pytest.fixture(autouse=True)
def patched() -> Iterator[None]:
    with rewind.integrations.patched("openai"):
        yield


def ask(client: openai.OpenAI, text: str, **more: Any) -> Any:
    return client.chat.completions.create(
        model="gpt-4o", messages=[{"role": "user", "content": text}], **more
    )


UNLISTED: dict[str, Callable[[openai.OpenAI], Any]] = {
    "models": lambda c: c.models.list().to_dict(),
    "files": lambda c: c.files.create(file=("a.txt", b"\xff\xfe\x00 hello"), purpose="batch"),
    "moderations": lambda c: c.moderations.create(input="x"),
    "images": lambda c: c.images.generate(prompt="x"),
    "speech": lambda c: c.audio.speech.create(input="x", model="tts-1", voice="alloy").read(),
    "transcription": lambda c: c.audio.transcriptions.create(
        file=("a.wav", b"RIFF\x00\xff"), model="whisper-1"
    ),
    "batches": lambda c: c.batches.retrieve("batch_1"),
    "legacy": lambda c: c.completions.create(model="gpt-3.5-turbo-instruct", prompt="x"),
    "vector_stores": lambda c: c.vector_stores.create(name="x"),
    "conversations": lambda c: c.conversations.create(),
    "delete": lambda c: c.files.delete("file_1"),
    "content": lambda c: c.files.content("file_1").read(),
}


def unlisted(method: str, path: str, body: bytes) -> tuple[int, str, bytes]:
    if "speech" in path or path.endswith("/content"):
        return 200, "application/octet-stream", bytes(range(256)) * 3
    return 200, "application/json", json.dumps({"id": "x", "object": "list", "data": []}).encode()


@pytest.mark.parametrize("name", UNLISTED)
def test_methods_nobody_listed_replay_with_the_server_gone(name: str, tmp_path: Path) -> None:
    server, use = Server(unlisted), UNLISTED[name]
    client = openai.OpenAI(base_url=server.url, api_key="k", max_retries=0)
    bare = use(client)
    with rewind.record(tmp_path / "run.rewind"):
        recorded = use(client)
    server.close()
    client = openai.OpenAI(base_url=server.url, api_key="other", max_retries=0)
    with rewind.replay(tmp_path / "run.rewind", require_full_consumption=True):
        replayed = use(client)
    assert type(replayed) is type(recorded) is type(bare)
    assert replayed == recorded == bare


def test_with_streaming_response_replays(tmp_path: Path) -> None:
    server = Server(lambda *_: (200, "application/json", json.dumps(completion("hi")).encode()))
    client = openai.OpenAI(base_url=server.url, api_key="k", max_retries=0)

    def use() -> tuple[bytes, str | None]:
        with client.chat.completions.with_streaming_response.create(
            model="gpt-4o", messages=[{"role": "user", "content": "x"}]
        ) as response:
            return b"".join(response.iter_bytes()), response.headers.get("x-request-id")

    with rewind.record(tmp_path / "run.rewind"):
        recorded = use()
    server.close()
    with rewind.replay(tmp_path / "run.rewind"):
        assert use() == recorded


def test_identical_parallel_requests_keep_their_own_answers(tmp_path: Path) -> None:
    count = iter(range(100_000))
    server = Server(
        lambda *_: (200, "application/json", json.dumps(completion(f"n{next(count)}")).encode())
    )

    async def agent(client: openai.AsyncOpenAI) -> list[str]:
        async def one(text: str) -> str:
            return (await ask(client, text)).choices[0].message.content  # type: ignore[no-any-return]

        return await asyncio.gather(one("same"), one("same"), one("other"), one("same"))

    async def run_once() -> list[str]:
        async with openai.AsyncOpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
            return await agent(client)

    for i in range(100):
        path = tmp_path / f"{i}.rewind"
        with rewind.record(path):
            recorded = asyncio.run(run_once())
        requests = server.requests
        with rewind.replay(path, require_full_consumption=True):
            assert asyncio.run(run_once()) == recorded, i
        assert server.requests == requests
    server.close()


def test_a_miss_passes_through_the_sdk_at_the_call(tmp_path: Path) -> None:
    server = Server(lambda *_: (200, "application/json", json.dumps(completion("hi")).encode()))
    client = openai.OpenAI(base_url=server.url, api_key="k")
    with rewind.record(tmp_path / "run.rewind"):
        ask(client, "hello")
    server.close()
    with rewind.replay(tmp_path / "run.rewind") as session:
        with pytest.raises(rewind.DivergenceError) as caught:
            ask(client, "changed")
        assert "messages[0].content" in str(caught.value)
        assert len(session.misses) == 1
        ask(client, "hello")


def test_rate_limits_replay_at_once_with_the_same_attempts(tmp_path: Path) -> None:
    error = json.dumps({"error": {"message": "slow down", "code": "rate_limit"}}).encode()
    answers = iter([429, 200, 429, 429])

    def answer(method: str, path: str, body: bytes) -> tuple[int, str, bytes]:
        status = next(answers)
        data = error if status == 429 else json.dumps(completion("hi")).encode()
        return status, "application/json", data

    server = Server(answer)
    client = openai.OpenAI(base_url=server.url, api_key="k", max_retries=1)

    def agent() -> tuple[int, int]:
        raw = client.chat.completions.with_raw_response.create(
            model="gpt-4o", messages=[{"role": "user", "content": "x"}]
        )
        with pytest.raises(openai.RateLimitError) as caught:
            ask(client, "again")
        assert type(caught.value) is openai.RateLimitError
        return raw.retries_taken, caught.value.status_code

    with rewind.record(tmp_path / "run.rewind"):
        recorded = agent()
    server.close()
    trace = rewind.Trace.open(tmp_path / "run.rewind")
    assert [e.attempt for e in trace] == [0, 1, 0, 1]
    with rewind.replay(tmp_path / "run.rewind", require_full_consumption=True):
        assert agent() == recorded == (1, 429)
    with rewind.replay(tmp_path / "run.rewind", retries="final"):
        assert agent() == (0, 429)
