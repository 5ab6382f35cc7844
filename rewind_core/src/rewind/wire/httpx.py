"""Responses of httpx and its successor as recorded outcomes, and the transports that record.

`library` is the imported client module; both generations have the names used here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from ..boundary import arun, run
from ..errors import RewindError
from .errors import describe, is_cancellation, revive
from .exchange import Exchange, Operation
from .identity import build_call
from .sink import Decode, Sink
from .streams import Ending, stream_classes, wait_for_cancellation

if TYPE_CHECKING:
    from ..calls import Call
    from ..session import Hints, Session, Slot
    from ..trace import Event, WireRecord

__all__ = ["AsyncTransport", "Judge", "Transport", "quiet", "read_exchange"]

_WHOLE = 1_000_000
_BODILESS = (204, 304)
_RETRY_HINT = ("retry-after-ms", "1")
_NO_RETRY = ("x-should-retry", "false")


class Judge(Protocol):
    """Decides what an exchange is: an operation to record, telemetry, or nothing (`None`)."""

    def __call__(
        self, exchange: Exchange, session: Session, transport: Any
    ) -> Operation | str | None: ...


def _pairs(headers: Any) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.raw]


def read_exchange(request: Any) -> Exchange:
    return Exchange.read(request.method, str(request.url), _pairs(request.headers))


def _decode_with(library: ModuleType, response: Any) -> Decode:
    """The client's own content decoding, on a throwaway response: it keeps state."""
    encodings = [("content-encoding", v) for v in response.headers.get_list("content-encoding")]
    decoder = library.Response(200, headers=encodings)._get_content_decoder()  # noqa: SLF001

    def decode(raw: bytes | None) -> Iterable[bytes]:
        out = decoder.flush() if raw is None else decoder.decode(raw)
        return [out] if isinstance(out, bytes) else out

    return decode


class Codec:
    """Records and rebuilds the response to one request."""

    def __init__(
        self, library: ModuleType, call: Call, operation: Operation, *, asynchronous: bool
    ) -> None:
        self._library = library
        self._call = call
        self._operation = operation
        self._asynchronous = asynchronous

    def record(self, slot: Slot, value: Any) -> Any:
        wire = self._wire(value)
        if wire.method == "HEAD" or wire.status in _BODILESS:
            decode: Decode = lambda raw: [raw] if raw else []  # noqa: E731
            self._sink(slot, wire, value, decode, length=0).end(None)
            return value
        if hasattr(value, "_content"):  # a transport that answers with the body already read
            sink = self._sink(slot, wire, value, lambda raw: [raw] if raw else [], length=None)
            sink.feed(value.content)
            sink.end(None)
            return value
        length = value.headers.get("content-length", "")
        sink = self._sink(
            slot,
            wire,
            value,
            _decode_with(self._library, value),
            length=int(length) if length.isdecimal() else None,
        )
        classes = stream_classes(self._library)
        tee = classes.async_tee if self._asynchronous else classes.tee
        value.stream = tee(value.stream, sink)
        return value

    def _sink(
        self, slot: Slot, wire: WireRecord, response: Any, decode: Decode, *, length: int | None
    ) -> Sink:
        media = response.headers.get("content-type", "").split(";")[0].strip().lower()
        size = response.headers.get("content-length", "")
        whole = length == 0 or media == "application/json" or media.endswith("+json")
        small = size.isdecimal() and int(size) <= _WHOLE and media != "text/event-stream"
        stream = not (whole or small)
        ends = self._operation.stream_ends
        return Sink(slot, wire, decode, stream=stream, length=length, ends=ends)

    def _wire(self, response: Any) -> WireRecord:
        assert self._call.wire is not None
        extensions = response.extensions
        return replace(
            self._call.wire,
            status=response.status_code,
            reason=extensions.get("reason_phrase", b"").decode("latin-1"),
            http_version=extensions.get("http_version", b"").decode("latin-1"),
            headers=_pairs(response.headers),
        )

    def record_error(self, slot: Slot, error: BaseException) -> None:
        if not isinstance(error, RewindError):
            slot.fail(describe(error))

    def serve(self, event: Event, hints: Hints) -> Any:
        """The recorded response; `None` for a call that was cancelled while it waited."""
        error, wire = event.error_plain, event.wire
        if wire is None or wire.status == 0:
            failure = error or {"type": "", "message": "nothing was recorded"}
            if is_cancellation(str(failure.get("type", ""))):
                return None
            raise revive(failure, step=event.seq)
        headers = list(wire.headers)
        if hints.retry_next:
            headers = [pair for pair in headers if pair[0].lower() != _RETRY_HINT[0]]
            headers.append(_RETRY_HINT)
        if hints.final:
            headers.append(_NO_RETRY)
        classes = stream_classes(self._library)
        recorded = classes.async_recorded if self._asynchronous else classes.recorded
        stream = recorded(_chunks(event), Ending(event=event))
        return build_response(self._library, wire, headers, stream)


def _chunks(event: Event) -> list[bytes]:
    if event.stream:
        return [chunk for chunk in event.chunks() if isinstance(chunk, bytes)]
    body = event.body
    if body is None or not body.data:
        return []
    cuts = [0, *body.split, len(body.data)]
    return [body.data[a:b] for a, b in pairwise(cuts) if b > a]


def build_response(
    library: ModuleType, wire: WireRecord, headers: list[tuple[str, str]], stream: Any
) -> Any:
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    given = {"http_version": wire.http_version, "reason_phrase": wire.reason}
    extensions = {name: text.encode("latin-1") for name, text in given.items() if text}
    response = library.Response(wire.status, headers=raw, stream=stream, extensions=extensions)
    # Recorded bodies are decoded already, under the headers as they came.
    response._decoder = library._decoders.IdentityDecoder()  # noqa: SLF001
    return response


def quiet(library: ModuleType) -> Any:
    """The answer to an upload that stays here."""
    return library.Response(200, json={})


class _Proxy:
    """Stands before a client's transport for one request made inside `session`."""

    _asynchronous = False

    def __init__(self, inner: Any, library: ModuleType, session: Session, judge: Judge) -> None:
        self._inner = inner
        self._library = library
        self._session = session
        self._judge = judge

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _verdict(self, request: Any) -> tuple[Exchange | None, Operation | str | None]:
        try:
            exchange = read_exchange(request)
            return exchange, self._judge(exchange, self._session, self._inner)
        except Exception as trouble:  # noqa: BLE001 - recording trouble is not the agent's
            return self._troubled(trouble, None), None

    def _prepare(
        self, exchange: Exchange | None, operation: Operation, body: bytes
    ) -> tuple[Call, Codec] | None:
        assert exchange is not None
        try:
            call = build_call(exchange, operation, body, self._session.requests)
        except Exception as trouble:  # noqa: BLE001 - as above
            return self._troubled(trouble, None)
        return call, Codec(self._library, call, operation, asynchronous=self._asynchronous)

    def _troubled(self, trouble: Exception, otherwise: None) -> None:
        if self._session.mode == "replay":
            self._session.refuse(f"{type(trouble).__name__}: {trouble}", name="a request")
        self._session.trouble(trouble)
        return otherwise


class Transport(_Proxy):
    def handle_request(self, request: Any) -> Any:
        exchange, verdict = self._verdict(request)
        live: Callable[[], Any] = partial(self._inner.handle_request, request)
        if verdict is None:
            return live()
        if isinstance(verdict, str):
            return quiet(self._library)
        prepared = self._prepare(exchange, verdict, request.read())
        if prepared is None:
            return live()
        call, codec = prepared
        response = run(self._session, call, live, codec)
        if response is None:
            self._session.refuse("its recording was cancelled while it waited", name=call.name)
        return response


class AsyncTransport(_Proxy):
    _asynchronous = True

    async def handle_async_request(self, request: Any) -> Any:
        exchange, verdict = self._verdict(request)
        live: Callable[[], Any] = partial(self._inner.handle_async_request, request)
        if verdict is None:
            return await live()
        if isinstance(verdict, str):
            return quiet(self._library)
        prepared = self._prepare(exchange, verdict, await request.aread())
        if prepared is None:
            return await live()
        call, codec = prepared
        response = await arun(self._session, call, live, codec)
        if response is None:
            await wait_for_cancellation()
            self._session.refuse("its recording was cancelled while it waited", name=call.name)
        return response
