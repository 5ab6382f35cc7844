"""The place reserved for a live call's outcome: filled once, never raising into the agent."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..redact import StreamMasker
from ..trace import UNSET, Body, EventRecord, Value
from .lineage import Node, running

if TYPE_CHECKING:
    from ..calls import Call
    from ..canonical import Plain
    from ..redact import Piece
    from ..trace import WireRecord
    from .session import Session

__all__ = ["Slot"]

T = TypeVar("T")


def _is_lines(headers: list[tuple[str, str]]) -> bool:
    """Whether a response is a stream of lines: server-sent events or JSON lines."""
    media = next((value for name, value in headers if name.lower() == "content-type"), "")
    return "json" in media or media.startswith("text/event-stream")


class Slot:
    """Reserved when the call starts. The first outcome given is kept; later ones are ignored.

    A plain outcome is `finish_value`, `finish_wire` or `fail`; a stream is `head`, any number
    of `chunk`, then `done`.
    """

    def __init__(
        self, session: Session, node: Node, call: Call, after: int | None, parent: int | None,
        branch: tuple[int, ...], tick: int,
    ) -> None:  # fmt: skip
        self.session = session
        self.node = node
        self.seq = node.seq
        self._call = call
        self._after = after
        self._parent = parent
        self._branch = branch
        self._tick = tick
        self._time = time.time()
        self._clock = time.perf_counter()
        self._state = "open"
        self._chunks = 0
        self._masker = session.masker
        self._stream: StreamMasker | None = None

    def running(self) -> contextlib.AbstractContextManager[None]:
        """Calls made inside are children of this one."""
        return running(self.session, self.node)

    def protect(self, action: Callable[..., T], *args: Any, otherwise: T | None = None) -> T:
        """Run a piece of recording; trouble in it is said once and never reaches the agent."""
        try:
            return action(*args)
        except Exception as trouble:  # noqa: BLE001 - never reaches the agent
            self.session.trouble(trouble)
            return otherwise  # type: ignore[return-value]

    @property
    def _ms(self) -> float:
        return round((time.perf_counter() - self._clock) * 1000, 3)

    def _record(self, **outcome: Any) -> EventRecord:
        call = self._call
        wire: WireRecord | None = outcome.pop("wire", None) or call.wire
        if wire is not None:
            wire.headers = self._masker.received_headers(wire.headers)
        fields: dict[str, Any] = {"value": UNSET, "error": None, "body": None, "stream": False}
        fields.update(outcome)
        return EventRecord(
            seq=self.seq, kind=call.kind, name=call.name, ring=call.ring, id=call.id,
            request=self.session.scrub_request(call.request), opaque_request=call.opaque_request,
            after=self._after, parent=self._parent, branch=list(self._branch),
            ticks=(self._tick, self.session.next_tick()), time=self._time, ms=self._ms,
            upstream=self.session.label(call), attempt=call.attempt, meta=dict(call.meta),
            wire=wire, **fields,
        )  # fmt: skip

    def _write(self, **outcome: Any) -> None:
        if self._state == "open":
            self._state = "streaming" if outcome.get("stream") else "closed"
            self.session.write_event(self._record(**outcome))

    def finish_value(self, value: Plain) -> None:
        self._write(value=self.session.scrub(self._masker.plain(value)))

    def fail(self, error: dict[str, Plain]) -> None:
        self._write(error=self.session.scrub(self._masker.plain(error)))

    def finish_wire(self, wire: WireRecord, body: Body) -> None:
        data, split = self.session.scrub_body(*self._masker.body(body.data, body.split))
        split = tuple(cut for cut in split if 0 < cut < len(data))
        self._write(wire=wire, body=Body(data=data, split=split))

    def head(self, wire: WireRecord | None = None) -> None:
        if wire is not None:
            scrub = self.session.scrub_body if self.session.scrubs else None
            self._stream = StreamMasker(self._masker, scrub, by_line=_is_lines(wire.headers))
        self._write(wire=wire, stream=True)

    def chunk(self, data: bytes | Plain) -> None:
        if self._state != "streaming":
            return
        if isinstance(data, bytes):
            assert self._stream is not None, "a stream of bytes has a head"
            self._write_pieces(self._stream.feed(data))
        else:
            self._chunks += 1
            masked = self.session.scrub(self._masker.plain(data))
            self.session.write_chunk(self.seq, Value(plain=masked))

    def _write_pieces(self, pieces: list[Piece]) -> None:
        for data, more in pieces:
            self._chunks += 1
            self.session.write_chunk(self.seq, data, more=more)

    def done(
        self,
        truncated: str | None = None,
        error: dict[str, Plain] | None = None,
        returned: Plain = None,
    ) -> None:
        if self._state != "streaming":
            return
        if self._stream is not None:
            self._write_pieces(self._stream.flush())
        self._state = "closed"
        masked = self.session.scrub(self._masker.plain(error)) if error is not None else None
        given = self.session.scrub(self._masker.plain(returned)) if returned is not None else None
        self.session.write_done(
            self.seq, ms=self._ms, chunks=self._chunks, truncated=truncated, error=masked,
            returned=given,
        )  # fmt: skip
