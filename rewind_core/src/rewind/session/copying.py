"""Copying a served event into a fork's own trace, renumbered, so that the fork replays from step 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..trace import EventRecord, Value

if TYPE_CHECKING:
    from ..trace import Event, TraceWriter

__all__ = ["copy_event"]


def copy_event(
    writer: TraceWriter,
    event: Event,
    *,
    seq: int,
    after: int | None,
    parent: int | None,
) -> None:
    """Write `event` again under the number `seq`, with its place in this run.

    It keeps its ticks: the fork has delivered it in the recorded order, and its live events count
    on from the last tick of the recording.
    """
    writer.start(seq, event.kind, event.name)
    writer.event(
        EventRecord(
            seq=seq, kind=event.kind, name=event.name, ring=event.ring, id=event.id,
            request=event.request_if_readable or {}, opaque_request=event.opaque_request,
            after=after, parent=parent, branch=list(event.branch), ticks=event.ticks,
            time=event.time, ms=event.ms, upstream=event.upstream, attempt=event.attempt,
            meta={**event.meta, "live": False}, wire=event.wire, body=event.body,
            value=event.value_plain, error=None if event.stream else event.error_plain,
            stream=event.stream,
        )
    )  # fmt: skip
    if not event.stream:
        return
    chunks = event.chunks()
    for chunk in chunks:
        writer.chunk(seq, chunk if isinstance(chunk, bytes) else Value(plain=chunk))
    writer.done(
        seq,
        ms=event.ms,
        tick=event.ended,
        chunks=len(chunks),
        truncated=event.truncated,
        error=event.error_plain,
        returned=event.returned_plain,
    )
