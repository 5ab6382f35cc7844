"""A sound trace from a damaged one, or from what a crash left behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..canonical import Plain
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
        copy_event(
            writer, event, seq=event.seq, after=event.after, parent=event.parent,
            meta=_meta(event, result),
        )  # fmt: skip
        result.kept += 1
    for started in trace.unfinished:
        if all(event.seq != started.seq for event in trace.events):
            text = f"step {started.seq} {started.kind} {started.name} was in flight"
            result.losses.append(f"{text}: it has no answer")
    result.path = writer.close(result.kept)
    return result


def _meta(event: Event, result: Repaired) -> Mapping[str, Plain]:
    if event.request_if_readable is None:
        result.losses.append(
            f"the request of {_name(event)} is lost (it referred to a damaged line); it is "
            "still served"
        )
    if not event.complete:
        result.losses.append(f"{_name(event)} ends where the run was cut off")
    return event.meta


def _name(event: Event) -> str:
    return f"step {event.seq} {event.kind} {event.name}".rstrip()
