"""A local HTTP server that plays a provider from recorded interactions.

Real SDKs talk to it over real sockets, so what they do with a response is what they do with the
provider's. It listens on 127.0.0.1 only, on a port the system chooses.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import selectors
import socket
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import parse_qsl, urlsplit

from .interactions import Interaction, Split, load

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["Received", "StandIn"]

_POLL = 0.02
_NO_BODY = (204, 304)


@dataclass(frozen=True, kw_only=True)
class Received:
    """One request as it arrived. `json` is None where the body is not JSON."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    json: Any


class StandIn:
    """Plays `source`: interactions, one interaction, or the path of a recorded file.

    `match="order"`: the first unused interaction with the request's method and path answers, and
    each answers once. `match="body"`: the one recorded with an equal body answers, as often as
    asked; among equals the least used. Queries count only where a recorded one agrees (SDK releases
    differ in them). A request that nothing answers gets a 404 that says so and stands in `unmatched`.

    `close()` ends the server and every open connection; `with` does it for you.
    """

    def __init__(
        self,
        source: str | Path | Interaction | Iterable[Interaction],
        *,
        split: Split = Split.EVENTS,
        match: Literal["order", "body"] = "order",
    ) -> None:
        if isinstance(source, (str, Path)):
            source = load(source)
        self.interactions = [source] if isinstance(source, Interaction) else list(source)
        self.split = split
        self.match = match
        self.requests: list[Received] = []
        self.unmatched: list[Received] = []
        self._uses = [0] * len(self.interactions)
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve, name="rewind-standin", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Scheme, host and port; no slash at the end."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def connections(self) -> int:
        """How many connections were accepted so far."""
        return self._server.accepted

    @property
    def remaining(self) -> int:
        """How many interactions were not played yet."""
        return self._uses.count(0)

    def close(self) -> None:
        if self._server.closing.is_set():
            return
        self._server.stop()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def take(self, received: Received) -> Interaction | None:
        """Notes a request and chooses its answer."""
        with self._lock:
            self.requests.append(received)
            index = self._choose(received)
            if index is None:
                self.unmatched.append(received)
                return None
            self._uses[index] += 1
            return self.interactions[index]

    def _choose(self, received: Received) -> int | None:
        fitting = self._fitting(received)
        if self.match == "order":
            return next((index for index in fitting if not self._uses[index]), None)
        equal = [index for index in fitting if self.interactions[index].request == received.json]
        return min(equal, key=lambda index: self._uses[index], default=None)

    def _fitting(self, received: Received) -> list[int]:
        """Indices with the method and path; with the query too, where one of them has it."""
        path, query = _target(received.path)
        same_path = {
            index: known_query
            for index, known in enumerate(self.interactions)
            for known_path, known_query in (_target(known.path),)
            if known.method == received.method and known_path == path
        }
        same_query = [index for index, known in same_path.items() if known == query]
        return same_query or list(same_path)


@functools.lru_cache(4096)
def _target(target: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    parts = urlsplit(target)
    return parts.path, tuple(sorted(parse_qsl(parts.query)))


def request_ids(interaction: Interaction) -> list[tuple[str, str]]:
    """Made-up ids, the same for the same interaction, under the names in use where none is set."""
    known = {name.lower() for name, _ in interaction.headers}
    text = f"{interaction.method} {interaction.path}\n".encode() + interaction.body
    made = "req_" + hashlib.blake2b(text, digest_size=12).hexdigest()
    return [(name, made) for name in ("x-request-id", "request-id") if name not in known]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256
    timeout = 0  # of `handle_request`, which is called when a connection waits

    def __init__(self, standin: StandIn) -> None:
        self.standin = standin
        self.accepted = 0
        self.closing = threading.Event()
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        self._woken, self._wake = socket.socketpair()
        super().__init__(("127.0.0.1", 0), _Handler)

    def serve(self) -> None:
        """Accepts until `stop`, which takes effect at once (`serve_forever` would poll)."""
        with selectors.DefaultSelector() as selector, self._woken:
            selector.register(self.socket, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while not self.closing.is_set():
                if any(key.fileobj is self.socket for key, _ in selector.select()):
                    self.handle_request()

    def stop(self) -> None:
        self.closing.set()
        self._wake.close()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self.accepted += 1
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        with self._open_lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away early is no error of the stand-in."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def owner(self) -> _Server:
        return cast("_Server", self.server)

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline:
            self.close_connection = True
        elif self.parse_request():
            self._answer()

    def _answer(self) -> None:
        received = self._receive()
        interaction = self.owner.standin.take(received)
        if interaction is None:
            told = f"stand-in: nothing recorded answers {received.method} {received.path}"
            error = {"error": {"message": told, "type": "stand_in", "code": None, "param": None}}
            interaction = Interaction.answer(received.path, error, status=404)
        self.owner.closing.wait(interaction.latency)
        self._play(interaction)

    def _receive(self) -> Received:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            body = b"".join(self._chunks())
        else:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            parsed = json.loads(body)
        except ValueError:
            parsed = None
        return Received(
            method=self.command,
            path=self.path,
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
            json=parsed,
        )

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():  # trailers
            pass

    def _play(self, interaction: Interaction) -> None:
        how = self.owner.standin.split
        chunked = interaction.streamed or how is Split.SEVEN_BYTES
        if interaction.status in _NO_BODY:
            self._head(interaction, None)
        elif chunked:
            self._head(interaction, ("transfer-encoding", "chunked"))
            self._send_chunks(interaction, interaction.split(how))
        else:
            self._head(interaction, ("content-length", str(len(interaction.body))))
            self._wait_for(interaction, 0)
            self.wfile.write(interaction.body)

    def _head(self, interaction: Interaction, framing: tuple[str, str] | None) -> None:
        self.send_response_only(interaction.status)
        for name, value in (*interaction.headers, *request_ids(interaction)):
            self.send_header(name, value)
        if framing is not None:
            self.send_header(*framing)
        self.end_headers()

    def _send_chunks(self, interaction: Interaction, chunks: tuple[bytes, ...]) -> None:
        for number, chunk in enumerate(chunks):
            if number == interaction.drop_after:
                self.close_connection = True
                return
            self._wait_for(interaction, number)
            if chunk:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        self.wfile.write(b"0\r\n\r\n")

    def _wait_for(self, interaction: Interaction, number: int) -> None:
        gate = interaction.gates.get(number)
        while gate is not None and not gate.wait(_POLL):
            if self.owner.closing.is_set():
                raise ConnectionAbortedError

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - inherited name
        """Stays silent: `requests` tells what came in."""
