"""`rewind cat`: the whole trace as JSON, with every reference expanded."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import msgspec

from ..canonical import Plain, encode, to_plain
from .console import Out
from .failures import Failure

if TYPE_CHECKING:
    from ..trace import Event, Trace

__all__ = ["cat"]

_FIELDS = (
    "seq", "kind", "name", "ring", "id", "after", "parent", "branch", "ticks", "time", "ms",
    "upstream", "attempt", "stream", "complete", "truncated", "meta",
)  # fmt: skip


def cat(trace: Trace, out: Out, *, event: int | None) -> None:
    """Print one event, or the header and all events as one JSON document."""
    if event is not None:
        found = [one for one in trace.events if one.seq == event]
        if not found:
            raise Failure(f"there is no event {event} in {trace.path}: it has {len(trace)}")
        out.raw(_json(_event(found[0])) + "\n")
        return
    out.raw('{\n"header": ' + _json(msgspec.to_builtins(trace.header)) + ',\n"events": [')
    separator = "\n"
    for one in trace.events:
        out.raw(separator + _json(_event(one)))
        separator = ",\n"
    unfinished = _json([asdict(started) for started in trace.unfinished])
    out.raw(f'\n],\n"unfinished": {unfinished},\n"complete": {_json(trace.complete)}\n}}\n')


def _event(event: Event) -> dict[str, Plain]:
    shown: dict[str, Plain] = {name: getattr(event, name) for name in _FIELDS}
    if event.damage is not None:
        return {**shown, "damage": event.damage}
    shown["request"] = event.request_if_readable
    if event.wire is not None:
        wire = event.wire
        shown["wire"] = {
            "method": wire.method,
            "url": wire.url,
            "request_headers": [[name, value] for name, value in wire.request_headers],
            "status": wire.status,
            "reason": wire.reason,
            "http_version": wire.http_version,
            "headers": [[name, value] for name, value in wire.headers],
        }
    if event.error is not None:
        shown["error"] = to_plain(event.error)
    if event.error is None or event.wire is not None:
        shown["response"] = to_plain(event.response)
    return shown


def _json(value: Plain) -> str:
    """Indented, with the numbers exactly as the trace has them."""
    return msgspec.json.format(encode(value), indent=2).decode()
