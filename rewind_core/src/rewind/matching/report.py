"""What a miss looks like to a person: step, reason, first difference, nearest call, next command."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ..canonical import encode
from ..errors import DivergenceError

if TYPE_CHECKING:
    from ..calls import Call
    from ..canonical import Plain
    from ..trace import Event

__all__ = ["Miss", "first_difference", "report", "short"]

_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class Miss:
    """Why no recorded event answers `call`; `event` is the nearest one."""

    call: Call
    reason: str
    event: Event | None

    @classmethod
    def order(cls, call: Call, event: Event) -> Miss:
        return cls(
            call,
            f"out of order: recorded as step {event.seq}, before a call already made here",
            event,
        )

    @classmethod
    def exhausted(cls, call: Call, event: Event, *, times: int) -> Miss:
        often = "once" if times == 1 else f"{times} times"
        return cls(call, f"already served: the recording has this call {often} only", event)

    @classmethod
    def upstream(cls, call: Call, event: Event) -> Miss:
        return cls(call, "the same request was recorded for another server", event)

    @classmethod
    def damaged(cls, call: Call, event: Event) -> Miss:
        return cls(call, f"step {event.seq} of the recording is damaged: {event.damage}", event)

    @classmethod
    def precise(cls, call: Call, event: Event, likeness: float, where: str) -> Miss:
        return cls(
            call,
            f"step {event.seq} is similar ({likeness:.2f}) but {where or 'its text'} differs, "
            "and that is never served approximately",
            event,
        )

    @classmethod
    def unknown(cls, call: Call, event: Event | None) -> Miss:
        if event is None:
            return cls(call, "the recording has no further call", None)
        if event.name != call.name:
            return cls(call, f"no recorded call of this name is left ({call.name})", event)
        return cls(call, "the request differs from what was recorded", event)


def first_difference(a: object, b: object, path: str = "") -> tuple[str, object, object] | None:
    """Path and both values where two plain values first differ; missing keys count as `...`."""
    if isinstance(a, dict) and isinstance(b, dict):
        left, right = cast("dict[str, object]", a), cast("dict[str, object]", b)
        for key in [*left, *(k for k in right if k not in left)]:
            found = first_difference(left.get(key, ...), right.get(key, ...), f"{path}.{key}")
            if found:
                return found
        return None
    if isinstance(a, list) and isinstance(b, list):
        ours, theirs = cast("list[object]", a), cast("list[object]", b)
        for i in range(max(len(ours), len(theirs))):
            x = ours[i] if i < len(ours) else ...
            y = theirs[i] if i < len(theirs) else ...
            found = first_difference(x, y, f"{path}[{i}]")
            if found:
                return found
        return None
    if type(a) is type(b) and a == b:
        return None
    return path.lstrip(".") or "(request)", a, b


def short(value: object, size: int = 300) -> str:
    """A value as JSON, cut to `size` characters."""
    if value is ...:
        return "(missing)"
    try:
        text = encode(cast("Plain", value)).decode()
    except Exception:  # noqa: BLE001 - a report never fails on what it shows
        text = repr(value)
    return text if len(text) <= size else text[: size - 20] + f"… ({len(text)} chars)"


def _text_diff(a: object, b: object) -> list[str]:
    if not (isinstance(a, str) and isinstance(b, str)):
        return []
    if max(len(a), len(b)) > 20_000 or ("\n" not in a and "\n" not in b):
        return []
    lines = difflib.unified_diff(a.splitlines(), b.splitlines(), "recorded", "now", "", "", 1, "")
    return [line[:160] for line in list(lines)[:20]]


def report(miss: Miss, *, path: str, step: int) -> DivergenceError:
    """The error for `miss`; `step` counts the events served before it."""
    call, event = miss.call, miss.event
    expected: Mapping[str, object] | None = event.request_if_readable if event is not None else None
    at = event.seq if event is not None else step
    lines = [f"replay diverged at step {at} ({call.kind} {call.name}): {miss.reason}"]
    if event is not None:
        lines.append(f"  nearest recorded call: step {event.seq}, {event.kind} {event.name}")
        if event.ring != call.ring:
            lines.append(
                f"  it was recorded by the {event.ring} ring, this call comes from {call.ring}"
            )
    if expected is not None:
        found = first_difference(expected, call.request)
        if found is not None:
            where, old, new = found
            lines += [
                f"  first difference: {where}",
                f"    recorded: {short(old)}",
                f"    now:      {short(new)}",
                *("    " + line for line in _text_diff(old, new)),
            ]
    lines.append(f"  look at the step: rewind cat {path} --event {at}")
    lines.append(f"  accept the change: record again, or rewind fork {path} --at {at} -- python …")
    text = "\n".join(lines)
    if len(text.encode()) > _LIMIT:
        text = text.encode()[: _LIMIT - 20].decode(errors="ignore") + "\n  … (cut)"
    return DivergenceError(
        text, step=at, reason=miss.reason, expected=expected, got=dict(call.request)
    )
