"""What happens to the bytes of a live response as the agent consumes them.

One object for sync and async: the tees in `streams` only feed it. Nothing here raises into
the agent, and every way to leave a response ends in exactly one outcome.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ..trace import Body
from .errors import describe, is_cancellation

if TYPE_CHECKING:
    from ..canonical import Plain
    from ..session import Session, Slot
    from ..trace import WireRecord

__all__ = ["Decode", "Sink", "close_sinks"]

Decode = Callable[["bytes | None"], Iterable[bytes]]
"""Content decoding: raw bytes to decoded pieces; `None` flushes."""

_TAIL = 8192

_open: weakref.WeakSet[Sink] = weakref.WeakSet()


def close_sinks(session: Session) -> None:
    """End what the agent has not finished reading when its session closes."""
    for sink in list(_open):
        if sink.session is session:
            sink.end("session closed")


class Sink:
    """`stream`: write chunk by chunk; otherwise the body is written whole when it is complete."""

    def __init__(
        self,
        slot: Slot,
        wire: WireRecord,
        decode: Decode,
        *,
        stream: bool,
        length: int | None = None,
        ends: tuple[bytes, ...] = (),
    ) -> None:
        self.session = slot.session
        self._slot = slot
        self._wire = wire
        self._decode = decode
        self._stream = stream
        self._length = length
        self._ends = ends
        self._tail = b""
        self._raw = 0
        self._parts: list[bytes] = []
        self._ended = False
        self._trouble: Exception | None = None
        if stream:
            slot.head(wire)
        _open.add(self)

    def feed(self, raw: bytes) -> None:
        if self._ended:
            return
        self._raw += len(raw)
        self._slot.protect(self._take, raw)

    def _take(self, raw: bytes | None) -> None:
        if self._trouble is not None:
            return
        try:
            pieces = [piece for piece in self._decode(raw) if piece]
        except Exception as error:  # noqa: BLE001 - the agent's own decoder raises the same
            self._trouble = error
            return
        for piece in pieces:
            if self._stream:
                self._slot.chunk(piece)
                if self._ends:
                    self._tail = (self._tail + piece)[-_TAIL:]
            else:
                self._parts.append(piece)

    def _said_everything(self) -> bool:
        if self._length is not None and self._raw >= self._length:
            return True
        return any(end in self._tail for end in self._ends)

    def fail(self, error: BaseException) -> None:
        if is_cancellation(type(error).__name__):
            self.end("cancelled")
        elif isinstance(error, Exception):
            self.end(None, error)
        else:
            self.end("interrupted")

    def end(self, truncated: str | None, error: Exception | None = None) -> None:
        """Write the outcome; only the first call counts."""
        if self._ended:
            return
        self._ended = True
        _open.discard(self)
        self._slot.protect(self._finish, truncated, error)

    def _finish(self, truncated: str | None, error: Exception | None) -> None:
        if truncated is not None and truncated != "cancelled" and self._said_everything():
            truncated = None
        if truncated is None and error is None:
            self._take(None)
        error = error or self._trouble
        failure: dict[str, Plain] | None = describe(error) if error is not None else None
        if not self._stream and truncated is None and failure is None:
            self._slot.finish_wire(self._wire, self._body())
            return
        if not self._stream:
            self._slot.head(self._wire)
            for part in self._parts:
                self._slot.chunk(part)
        self._slot.done(truncated=truncated, error=failure)

    def _body(self) -> Body:
        cuts: list[int] = []
        size = 0
        for part in self._parts[:-1]:
            size += len(part)
            cuts.append(size)
        return Body(data=b"".join(self._parts), split=tuple(cuts))
