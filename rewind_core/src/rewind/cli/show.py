"""`rewind show`: the steps of a trace, as a list or one by one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, cast

from ..formats import Reading, read
from ..formats.values import as_map, json_text
from .console import Out, clean, one_line

if TYPE_CHECKING:
    from ..trace import Event, Trace

__all__ = ["outcome", "seconds", "show", "step_through", "when"]

_STYLES = {"llm": "cyan", "tool": "green", "memory": "magenta", "http": "blue"}
_PREVIEW = 600


def seconds(ms: float) -> str:
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def when(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def outcome(event: Event, reading: Reading) -> str:
    """What came back, in words."""
    error = event.error
    if error is not None:
        return f"{error.get('type')} {error.get('status') or ''} {error.get('message') or ''}"
    calls = [f"{call.name}({call.arguments})" for call in reading.tool_calls]
    return "  ".join(part for part in (reading.text, *calls) if part)


def show(trace: Trace, out: Out, *, verbose: bool) -> None:
    header(trace, out)
    depth: dict[int, int] = {}
    for event in trace.events:
        depth[event.seq] = depth.get(event.parent, 0) + 1 if event.parent is not None else 0
        row(event, out, indent=depth[event.seq])
        if verbose:
            detail(event, out, size=_PREVIEW)
    for pending in trace.unfinished:
        out.line(
            ("  unfinished: ", "yellow"), f"{pending.seq} {pending.kind} {clean(pending.name)}"
        )


def header(trace: Trace, out: Out) -> None:
    count = len(trace)
    state = "" if trace.complete else "  (the recording did not finish)"
    origin = trace.header.forked_from
    out.line((str(trace.path), "bold"), f"  {count} step{'' if count == 1 else 's'}", state)
    if isinstance(origin, dict):
        found = as_map(cast("object", origin))
        source, at = clean(str(found.get("path"))), found.get("at")
        out.line(f"  forked from {source} at step {at}")
    for key, value in trace.meta.items():
        out.line(f"  {clean(str(key))}: {one_line(json_text(value), 200)}")


def row(event: Event, out: Out, *, indent: int = 0) -> None:
    if event.damage is not None:
        out.line(f"{event.seq:>5}  {event.kind:<6} {clean(event.name)}  ", ("damaged", "red"))
        return
    reading = read(event, history=False)
    failed = event.error is not None
    marks = [mark for mark, on in (("stream", event.stream), ("cut off", event.truncated)) if on]
    facts = "  ".join(
        [*([reading.model] if reading.model else []), seconds(event.duration_ms), *marks]
    )
    out.line(
        f"{event.seq:>5}  {'  ' * indent}",
        (f"{event.kind:<6} ", _STYLES.get(event.kind, "")),
        (clean(event.name), "bold"),
        (f"  {clean(facts)}  ", "dim"),
        (one_line(outcome(event, reading), out.width), "red" if failed else ""),
    )


def detail(event: Event, out: Out, *, size: int) -> None:
    """Request and response, each cut at `size` characters."""
    if event.damage is not None:
        out.line(f"         {clean(event.damage)}")
        return
    reading = read(event)
    if reading.messages:
        skipped = len(reading.messages) - 3
        if skipped > 0:
            out.line((f"         … {skipped} earlier messages", "dim"))
        for message in reading.messages[-3:]:
            _block(out, message.role or "message", message.text, size)
    else:
        _block(out, "request", _request(event), size)
    _block(out, "error" if event.error is not None else "response", outcome(event, reading), size)
    usage = reading.usage
    if usage is not None and usage.known:
        out.line((f"         tokens: {usage.input_tokens} in, {usage.output_tokens} out", "dim"))


def _request(event: Event) -> str:
    known = event.request_if_readable is not None
    return json_text(event.request) if known else "(in a damaged line)"


def step_through(trace: Trace, out: Out) -> None:
    """The line stepper: n(ext), p(revious), j N (jump), q(uit); an empty line goes on."""
    events = list(trace.events)
    header(trace, out)
    if not events:
        return
    at = 0
    while True:
        row(events[at], out)
        detail(events[at], out, size=4000)
        out.line(
            (f"[{at + 1}/{len(events)}] n next, p previous, j N jump to step N, q quit", "dim")
        )
        at_next = _ask(events, at, out)
        if at_next is None:
            return
        at = at_next


def _ask(events: Sequence[Event], at: int, out: Out) -> int | None:
    """The index to show next; `None` ends."""
    while True:
        out.flush()
        typed = sys.stdin.readline()
        words = typed.split()
        if not typed or words[:1] == ["q"]:
            return None
        if not words or words[0] == "n":
            if at + 1 < len(events):
                return at + 1
            out.line("this is the last step")
        elif words[0] == "p":
            if at > 0:
                return at - 1
            out.line("this is the first step")
        elif words[0] == "j" and len(words) > 1 and words[1].isdigit():
            found = [i for i, event in enumerate(events) if event.seq == int(words[1])]
            if found:
                return found[0]
            out.line(f"there is no step {words[1]}: steps are {events[0].seq} to {events[-1].seq}")
        else:
            out.line("n next, p previous, j N jump to step N, q quit")


def _block(out: Out, title: str, text: str, size: int) -> None:
    text = clean(text)
    if len(text) > size:
        text = text[:size] + f"… ({len(text)} characters)"
    lines = text.splitlines() or [""]
    out.line((f"         {title}: ", "dim"), lines[0], wrap=True)
    for line in lines[1:]:
        out.line(f"           {line}", wrap=True)
