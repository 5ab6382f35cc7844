"""Matching for code that has changed: by position, or by likeness."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, cast

from ..canonical import encode_sorted
from ..errors import FuzzyMatchWarning, ReplayDriftWarning, SessionError
from .report import Miss, first_difference, short
from .similarity import current_similarity
from .strategy import Choice, Strategy
from .strict import StrictMatcher

if TYPE_CHECKING:
    from ..calls import Call
    from ..session.lineage import Line
    from ..trace import Event
    from .tape import Tape

__all__ = ["FuzzyMatcher", "OrderedMatcher", "exact_difference"]

_STRICT = StrictMatcher()
_PROSE = 24
_LONG_PROSE = 200
_PRECISE = re.compile(r"\S*[\d@/_]\S*|(?<=[^.!?]\s)[A-Z]\S*")


def _change(event: Event, call: Call) -> str:
    """Where a served request and the call differ."""
    found = first_difference(event.request_plain, call.request)
    if found is None:
        return "the request is equal, what is sent beside it differs"
    where, recorded, now = found
    return f"{where}: recorded {short(recorded, 80)}, now {short(now, 80)}"


@dataclass(frozen=True, slots=True)
class OrderedMatcher(Strategy):
    """By position in the line of execution, whatever is asked; kind and name have to agree.

    A drifted request is served with a `ReplayDriftWarning`. A call that the line did not make
    at this point in the recording is answered by its content, else refused.
    """

    name = "ordered"
    in_order = True

    def choose(self, tape: Tape, call: Call, line: Line) -> Choice | Miss:
        event = tape.expected(line)
        if event is None or (event.kind, event.name) != (call.kind, call.name):
            return _STRICT.choose(tape, call, line)
        if event.damage is not None:
            return Miss.damaged(call, event)
        if event.id == call.id:
            return Choice(event)
        text = f"step {event.seq} ({event.name}) answers a request that has drifted: "
        return Choice(event, (text + _change(event, call), ReplayDriftWarning))


@dataclass(frozen=True, slots=True)
class FuzzyMatcher(Strategy):
    """By content, else the most similar request of the same kind and name.

    Searched are the next `window` unserved events of the line, never an earlier one; `threshold`
    is the likeness, between 0 and 1, from which on a request is served, with a
    `FuzzyMatchWarning`. Never served is a request that differs from the call in a precise part:
    see `exact_difference`.
    """

    threshold: float = 0.6
    window: int = 8
    name = "fuzzy"
    in_order = False

    def __post_init__(self) -> None:
        if type(self.window) is not int or self.window < 1:
            raise SessionError(f"window={self.window!r}: give a number of events, 1 or more")
        if type(self.threshold) not in (int, float) or not 0 <= self.threshold <= 1:
            raise SessionError(f"threshold={self.threshold!r}: give a number between 0 and 1")

    def choose(self, tape: Tape, call: Call, line: Line) -> Choice | Miss:
        found = _STRICT.choose(tape, call, line)
        if isinstance(found, Choice):
            skipped = self._skipped(tape, line, found.event)
            if skipped is None:
                return found
            text = f"step {found.event.seq} ({call.name}) was served, step {skipped.seq} before it "
            return Choice(found.event, (text + "was not asked for", FuzzyMatchWarning))
        if found.event is not None and found.event.damage is not None:
            return found
        return self._nearest(tape, call, line) or found

    def _window(self, tape: Tape, line: Line) -> Iterator[Event]:
        last = line.last.recorded if line.last is not None else None
        return islice(tape.open_after(last), self.window)

    def _skipped(self, tape: Tape, line: Line, event: Event) -> Event | None:
        expected = tape.expected(line)
        if expected is None or expected.seq >= event.seq or event.branch != expected.branch:
            return None
        return expected

    def _nearest(self, tape: Tape, call: Call, line: Line) -> Choice | Miss | None:
        asked = encode_sorted(call.request).decode()
        best: tuple[float, Event] | None = None
        refused: Miss | None = None
        for event in self._window(tape, line):
            if (event.kind, event.name) != (call.kind, call.name):
                continue
            if not tape.upstream_fits(event, call) or event.opaque_request != call.opaque_request:
                continue
            likeness = current_similarity(encode_sorted(event.request_plain).decode(), asked)
            if likeness < self.threshold:
                continue
            precise = exact_difference(event.request_plain, call.request, kind=call.kind)
            if precise is not None:
                refused = refused or Miss.precise(call, event, likeness, precise)
            elif best is None or likeness > best[0]:
                best = likeness, event
        if best is None:
            return refused
        likeness, event = best
        text = f"step {event.seq} ({event.name}) answers a similar request ({likeness:.2f}): "
        return Choice(event, (text + _change(event, call), FuzzyMatchWarning))


def exact_difference(recorded: object, now: object, *, kind: str) -> str | None:
    """The first place where two similar requests differ in something that is never approximate.

    In what a tool or a memory is asked that is every number, boolean and null, every member that
    only one of them has, and every text that is no prose (under 24 characters or under five
    words). In prose of any kind of call it is whatever holds a digit, `@`, `/` or `_` (amounts,
    dates, ids, addresses) and names (capitals inside a sentence), except in the long texts that
    a model is given.
    """
    if isinstance(recorded, dict) and isinstance(now, dict):
        return _members(cast("dict[str, object]", recorded), cast("dict[str, object]", now), kind)
    if isinstance(recorded, list) and isinstance(now, list):
        return _items(cast("list[object]", recorded), cast("list[object]", now), kind)
    if type(recorded) is type(now) and recorded == now:
        return None
    if isinstance(recorded, str) and isinstance(now, str):
        return _texts(recorded, now, kind)
    return "" if kind != "llm" else None


def _members(recorded: dict[str, object], now: dict[str, object], kind: str) -> str | None:
    for key in [*recorded, *(key for key in now if key not in recorded)]:
        if key not in recorded or key not in now:
            if kind != "llm":
                return key
            continue
        inner = exact_difference(recorded[key], now[key], kind=kind)
        if inner is not None:
            return f"{key}{'.' if inner and inner[0] != '[' else ''}{inner}"
    return None


def _items(recorded: list[object], now: list[object], kind: str) -> str | None:
    if len(recorded) != len(now) and kind != "llm":
        return f"[{min(len(recorded), len(now))}]"
    for index, (ours, theirs) in enumerate(zip(recorded, now, strict=False)):
        inner = exact_difference(ours, theirs, kind=kind)
        if inner is not None:
            return f"[{index}]{'.' if inner and inner[0] != '[' else ''}{inner}"
    return None


def _texts(recorded: str, now: str, kind: str) -> str | None:
    if kind == "llm" and max(len(recorded), len(now)) > _LONG_PROSE:
        return None
    if kind != "llm" and not (_is_prose(recorded) and _is_prose(now)):
        return ""
    same = sorted(_PRECISE.findall(recorded)) == sorted(_PRECISE.findall(now))
    return None if same else ""


def _is_prose(text: str) -> bool:
    return len(text) >= _PROSE and len(text.split()) > 4
