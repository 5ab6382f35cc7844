"""A sound trace from a damaged one, or from what a crash left behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .copying import copy_event
from .model import Event, Trace
from .writer import TraceWriter

__all__ = ["Repaired", "repair"]


@dataclass(slots=True, kw_only=True)
class Repaired:
    """What became of a trace: where it is now, and a line for everything that is lost."""

    path: Path
    kept: int = 0
    losses: list[str] = field(default_factory=list[str])


def repair(trace: Trace, target: Path) -> Repaired:
    """Write every readable event of `trace` to `target`, numbered and placed as they were.

    Raises `TraceFormatError` if `target` cannot be written.
    """
    writer = TraceWriter(
        target,
        mode=trace.header.mode,
        meta=trace.meta,
        forked_from=trace.header.forked_from,
        created=trace.header.created,
    )
    result = Repaired(path=target)
    result.losses += [str(damage) for damage in trace.damage]
    for event in sorted(trace.events, key=lambda event: event.ticks[1]):
        if event.damage is not None:
            result.losses.append(f"{_name(event)} is lost: {event.damage}")
            continue
        result.losses += _losses(event)
        copy_event(
            writer, event, seq=event.seq, after=event.after, parent=event.parent, meta=event.meta
        )  # fmt: skip
        result.kept += 1
    known = {event.seq for event in trace.events}
    for started in trace.unfinished:
        if started.seq not in known:
            text = f"step {started.seq} {started.kind} {started.name} was in flight"
            result.losses.append(f"{text}: it has no answer")
    result.path = writer.close(result.kept)
    return result


def _losses(event: Event) -> Iterator[str]:
    """What is missing of an event that is kept."""
    if event.request_if_readable is None:
        yield (
            f"the request of {_name(event)} is lost (it referred to a damaged line); it is "
            "still served"
        )
    if not event.complete:
        yield f"{_name(event)} ends where the run was cut off"


def _name(event: Event) -> str:
    return f"step {event.seq} {event.kind} {event.name}".rstrip()
