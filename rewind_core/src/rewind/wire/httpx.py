"""Responses of httpx and its successor as recorded outcomes, and the transports that record.

`library` is the imported client module; both generations have the names used here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..boundary import arun, run
from ..errors import RewindError
from .errors import describe
from .exchange import Exchange, Operation
from .gate import Gate, Judge
from .responses import bodiless, decoded, open_sink, recorded_chunks, served, with_head
from .sink import Decode
from .streams import Ending, stream_classes, wait_for_cancellation

if TYPE_CHECKING:
    from ..calls import Call
    from ..session import Hints, Session, Slot
    from ..trace import Event, WireRecord

__all__ = ["AsyncTransport", "Transport", "quiet", "read_exchange"]


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
        if bodiless(wire):
            open_sink(slot, wire, self._operation, decoded).end(None)
            return value
        if hasattr(value, "_content"):  # a transport that answers with the body already read
            sink = open_sink(slot, wire, self._operation, decoded, whole=True)
            sink.feed(value.content)
            sink.end(None)
            return value
        sink = open_sink(slot, wire, self._operation, _decode_with(self._library, value))
        classes = stream_classes(self._library)
        tee = classes.async_tee if self._asynchronous else classes.tee
        value.stream = tee(value.stream, sink)
        return value

    def _wire(self, response: Any) -> WireRecord:
        extensions = response.extensions
        return with_head(
            self._call,
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
        found = served(event, hints)
        if found is None:
            return None
        classes = stream_classes(self._library)
        recorded = classes.async_recorded if self._asynchronous else classes.recorded
        stream = recorded(recorded_chunks(event), Ending(event=event))
        return build_response(self._library, *found, stream)


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
        self._gate = Gate(session, judge)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _verdict(self, request: Any) -> tuple[Exchange | None, Operation | str | None]:
        return self._gate.verdict(partial(read_exchange, request), self._inner)

    def _codec(self, call: Call, operation: Operation) -> Codec:
        return Codec(self._library, call, operation, asynchronous=self._asynchronous)


class Transport(_Proxy):
    def handle_request(self, request: Any) -> Any:
        exchange, verdict = self._verdict(request)
        live: Callable[[], Any] = partial(self._inner.handle_request, request)
        if verdict is None:
            return live()
        if isinstance(verdict, str):
            return quiet(self._library)
        call = self._gate.call(exchange, verdict, request.read())
        if call is None:
            return live()
        response = run(self._session, call, live, self._codec(call, verdict))
        return self._gate.given(response, call)


class AsyncTransport(_Proxy):
    _asynchronous = True

    async def handle_async_request(self, request: Any) -> Any:
        exchange, verdict = self._verdict(request)
        live: Callable[[], Any] = partial(self._inner.handle_async_request, request)
        if verdict is None:
            return await live()
        if isinstance(verdict, str):
            return quiet(self._library)
        call = self._gate.call(exchange, verdict, await request.aread())
        if call is None:
            return await live()
        response = await arun(self._session, call, live, self._codec(call, verdict))
        if response is None:
            await wait_for_cancellation()
        return self._gate.given(response, call)
