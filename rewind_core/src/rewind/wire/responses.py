"""HTTP responses as recorded outcomes, and back: what does not depend on the client library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from .errors import is_cancellation, revive
from .sink import Decode, Sink

if TYPE_CHECKING:
    from ..calls import Call
    from ..session import Hints, Slot
    from ..trace import Event, WireRecord
    from .exchange import Operation

__all__ = ["bodiless", "decoded", "open_sink", "recorded_chunks", "served", "with_head"]

Headers = Sequence[tuple[str, str]]

_WHOLE = 1_000_000
_BODILESS = (204, 304)
_RETRY_HINT = ("retry-after-ms", "1")
_NO_RETRY = ("x-should-retry", "false")


def with_head(
    call: Call, *, status: int, reason: str, http_version: str, headers: Headers
) -> WireRecord:
    """The record of `call` with the head of its response."""
    assert call.wire is not None
    return replace(
        call.wire, status=status, reason=reason, http_version=http_version, headers=list(headers)
    )


def bodiless(wire: WireRecord) -> bool:
    """Whether a response has no body, whatever its headers say."""
    return wire.method == "HEAD" or wire.status in _BODILESS


def decoded(raw: bytes | None) -> list[bytes]:
    """Decoding of what is decoded already."""
    return [raw] if raw else []


def _header(wire: WireRecord, name: str) -> str:
    return next((value for key, value in wire.headers if key.lower() == name), "")


def open_sink(
    slot: Slot, wire: WireRecord, operation: Operation, decode: Decode, *, whole: bool = False
) -> Sink:
    """Where the bytes of a response go. `whole`: the body is here already, decoded."""
    size = _header(wire, "content-length")
    length = int(size) if size.isdecimal() and not whole else None
    if bodiless(wire):
        length, decode = 0, decoded
    media = _header(wire, "content-type").split(";")[0].strip().lower()
    together = length == 0 or media == "application/json" or media.endswith("+json")
    small = size.isdecimal() and int(size) <= _WHOLE and media != "text/event-stream"
    stream = not (together or small)
    return Sink(slot, wire, decode, stream=stream, length=length, ends=operation.stream_ends)


def served(event: Event, hints: Hints) -> tuple[WireRecord, list[tuple[str, str]]] | None:
    """The recorded head of `event` with the headers to give; `None` for a call that was
    cancelled while it waited.

    Raises the recorded transport error, if that is what came.
    """
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
    return wire, headers


def recorded_chunks(event: Event) -> list[bytes]:
    """The decoded body as it came, chunk by chunk."""
    if event.stream:
        return [chunk for chunk in event.chunks() if isinstance(chunk, bytes)]
    body = event.body
    if body is None or not body.data:
        return []
    cuts = [0, *body.split, len(body.data)]
    return [body.data[a:b] for a, b in pairwise(cuts) if b > a]
