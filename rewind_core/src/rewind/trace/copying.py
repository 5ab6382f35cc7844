"""Copying a readable event into another trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .records import EventRecord, Value

if TYPE_CHECKING:
    from ..canonical import Plain
    from .model import Event
    from .writer import TraceWriter

__all__ = ["copy_event"]


def copy_event(
    writer: TraceWriter,
    event: Event,
    *,
    seq: int,
    after: int | None,
    parent: int | None,
    meta: Mapping[str, Plain],
) -> None:
    """Write `event` again under the number `seq`, at this place in its line of execution.

    It keeps its ticks. Of a request that cannot be read any more its identity is what is left.
    """
    writer.start(seq, event.kind, event.name)
    writer.event(
        EventRecord(
            seq=seq, kind=event.kind, name=event.name, ring=event.ring, id=event.id,
            request=event.request_if_readable or {}, opaque_request=event.opaque_request,
            after=after, parent=parent, branch=list(event.branch), ticks=event.ticks,
            time=event.time, ms=event.ms, upstream=event.upstream, attempt=event.attempt,
            meta=dict(meta), wire=event.wire, body=event.body, value=event.value_plain,
            error=None if event.stream else event.error_plain, stream=event.stream,
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
