"""Where two runs part: their steps aligned, and the first one that differs.

Two steps are equal when they asked the same (the event's identity) and were answered the same
(text, tool calls and outcome; ids and times that a provider makes up anew do not count).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from .canonical import fingerprint, to_plain
from .formats import Reading, read
from .formats.values import json_text
from .matching.report import first_difference
from .matching.similarity import letter_ratio, slow_ratio
from .trace import Trace

if TYPE_CHECKING:
    from .trace import Event

__all__ = ["DiffEntry", "Op", "TraceDiff", "diff_traces", "render_text"]

Op = Literal["equal", "changed", "deleted", "inserted"]
_SAMPLE = 4000
_REPEATS = 16
_SYMBOL: dict[Op, str] = {"equal": "=", "changed": "~", "deleted": "-", "inserted": "+"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffEntry:
    """One aligned row. `a` is `None` for an inserted step, `b` for a deleted one.

    `step` is the step's number in `a`, or in `b` where `a` has none.
    """

    op: Op
    a: Event | None
    b: Event | None
    similarity: float

    @property
    def step(self) -> int:
        event = self.a if self.a is not None else self.b
        return event.seq if event is not None else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceDiff:
    a: Trace
    b: Trace
    entries: tuple[DiffEntry, ...]

    @property
    def diverged(self) -> bool:
        return any(entry.op != "equal" for entry in self.entries)

    @property
    def first_divergence(self) -> DiffEntry | None:
        return next((entry for entry in self.entries if entry.op != "equal"), None)

    def summary(self) -> str:
        """One line: how many steps are equal, changed, deleted and inserted."""
        counts = Counter(entry.op for entry in self.entries)
        ops: tuple[Op, ...] = ("equal", "changed", "deleted", "inserted")
        return ", ".join(f"{counts[op]} {op}" for op in ops if counts[op]) or "both empty"


def diff_traces(a: Trace | str | Path, b: Trace | str | Path) -> TraceDiff:
    """Align two traces, given as objects or paths. Raises `TraceFormatError` for a bad path."""
    left, right = _opened(a), _opened(b)
    ours, theirs = list(left.events), list(right.events)
    start = _common(ours, theirs)
    end = _common(ours[start:][::-1], theirs[start:][::-1])
    entries = [_equal(x, y) for x, y in zip(ours[:start], theirs[:start], strict=True)]
    entries += _middle(ours[start : len(ours) - end], theirs[start : len(theirs) - end])
    tail = zip(ours[len(ours) - end :], theirs[len(theirs) - end :], strict=True)
    entries += [_equal(x, y) for x, y in tail]
    return TraceDiff(a=left, b=right, entries=tuple(entries))


def _opened(trace: Trace | str | Path) -> Trace:
    return trace if isinstance(trace, Trace) else Trace.open(trace)


def _equal(a: Event, b: Event) -> DiffEntry:
    return DiffEntry(op="equal", a=a, b=b, similarity=1.0)


def _common(ours: Sequence[Event], theirs: Sequence[Event]) -> int:
    """How many leading steps are the same."""
    for count, (x, y) in enumerate(zip(ours, theirs, strict=False)):
        if not _same(x, y):
            return count
    return min(len(ours), len(theirs))


def _same(a: Event, b: Event) -> bool:
    if a.damage is not None or b.damage is not None:
        return False
    if a.id != b.id or a.name != b.name:
        return False
    return _raw(a) == _raw(b) or _digest(a) == _digest(b)


def _raw(event: Event) -> object:
    """What the event replays, unparsed: equal here is equal at a glance."""
    if event.wire is None:
        return object()
    chunks = b"".join(c for c in event.chunks() if isinstance(c, bytes)) if event.stream else b""
    return event.wire.status, event.body.data if event.body is not None else b"", chunks


def _digest(event: Event) -> bytes:
    """The meaning of an answer, hashed; of a damaged step, which equals none, its place."""
    if event.damage is not None:
        return event.place.encode()
    if event.error is not None:
        error = {key: event.error.get(key) for key in ("type", "status", "message")}
        return fingerprint(to_plain({"error": error}))
    reading = read(event, history=False)
    if reading.format in ("opaque", "embeddings"):
        return fingerprint(to_plain({"response": event.response}))
    calls = [[call.name, call.arguments] for call in reading.tool_calls]
    answer = {"text": reading.text, "calls": calls, "finish": reading.finish}
    return fingerprint(to_plain({**answer, "truncated": bool(event.truncated)}))


def _middle(ours: Sequence[Event], theirs: Sequence[Event]) -> Iterator[DiffEntry]:
    if not ours or not theirs:
        yield from _unpaired(ours, theirs)
        return
    left = [(event.id, event.name, _digest(event)) for event in ours]
    right = [(event.id, event.name, _digest(event)) for event in theirs]
    i = j = 0
    for x, y in [*_longest_common(left, right), (len(ours), len(theirs))]:
        yield from _gap(ours[i:x], theirs[j:y])
        if x < len(ours):
            yield _equal(ours[x], theirs[y])
        i, j = x + 1, y + 1


@dataclass(frozen=True, slots=True)
class _Link:
    left: int
    right: int
    before: _Link | None


def _longest_common(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Index pairs of a longest common subsequence (Hunt and Szymanski: n log n if steps differ).

    A step repeated more than a few times is told apart by its ordinal, which bounds the pairs.
    """
    places: defaultdict[Hashable, list[int]] = defaultdict(list)
    for index, key in enumerate(_numbered(right)):
        places[key].append(index)
    ends: list[int] = []
    links: list[_Link] = []
    for index, key in enumerate(_numbered(left)):
        for place in reversed(places.get(key, ())):
            at = bisect_left(ends, place)
            link = _Link(index, place, links[at - 1] if at else None)
            if at == len(ends):
                ends.append(place)
                links.append(link)
            else:
                ends[at], links[at] = place, link
    pairs: list[tuple[int, int]] = []
    node = links[-1] if links else None
    while node is not None:
        pairs.append((node.left, node.right))
        node = node.before
    return pairs[::-1]


def _numbered(keys: Sequence[Hashable]) -> list[Hashable]:
    seen: Counter[Hashable] = Counter()
    total = Counter(keys)
    result: list[Hashable] = []
    for key in keys:
        seen[key] += 1
        result.append((key, seen[key]) if total[key] > _REPEATS else (key, 0))
    return result


def _unpaired(ours: Sequence[Event], theirs: Sequence[Event]) -> Iterator[DiffEntry]:
    for event in ours:
        yield DiffEntry(op="deleted", a=event, b=None, similarity=0.0)
    for event in theirs:
        yield DiffEntry(op="inserted", a=None, b=event, similarity=0.0)


def _gap(ours: Sequence[Event], theirs: Sequence[Event]) -> Iterator[DiffEntry]:
    """Steps without an equal: those of the same name that are most alike count as changed."""
    i = j = 0
    for x, y, likeness in [*_pairs(ours, theirs), (len(ours), len(theirs), 0.0)]:
        yield from _unpaired(ours[i:x], theirs[j:y])
        if x < len(ours):
            yield DiffEntry(op="changed", a=ours[x], b=theirs[y], similarity=likeness)
        i, j = x + 1, y + 1


def _pairs(ours: Sequence[Event], theirs: Sequence[Event]) -> list[tuple[int, int, float]]:
    ratio = letter_ratio()
    left, right = [_sample(event) for event in ours], [_sample(event) for event in theirs]
    if len(ours) * len(theirs) > (2500 if ratio is not slow_ratio else 100):
        names = [(e.kind, e.name) for e in ours], [(e.kind, e.name) for e in theirs]
        return [(x, y, ratio(left[x], right[y])) for x, y in _longest_common(*names)]
    return _most_alike(ours, theirs, lambda x, y: ratio(left[x], right[y]))


def _most_alike(
    ours: Sequence[Event], theirs: Sequence[Event], ratio: Callable[[int, int], float]
) -> list[tuple[int, int, float]]:
    """The order-keeping pairing with the greatest likeness in sum."""
    alike = {
        (x, y): ratio(x, y)
        for x, a in enumerate(ours)
        for y, b in enumerate(theirs)
        if (a.kind, a.name) == (b.kind, b.name)
    }
    best = [[0.0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for x in reversed(range(len(ours))):
        for y in reversed(range(len(theirs))):
            paired = alike.get((x, y), -2.0) + 0.05 + best[x + 1][y + 1]
            best[x][y] = max(best[x + 1][y], best[x][y + 1], paired)
    pairs: list[tuple[int, int, float]] = []
    x = y = 0
    while x < len(ours) and y < len(theirs):
        if best[x][y] == best[x + 1][y]:
            x += 1
        elif best[x][y] == best[x][y + 1]:
            y += 1
        else:
            pairs.append((x, y, alike[x, y]))
            x, y = x + 1, y + 1
    return pairs


def _sample(event: Event) -> str:
    """The text by which two steps are compared: what was asked last and what came back."""
    if event.damage is not None:
        return event.damage
    reading = read(event)
    asked = reading.messages[-1].text if reading.messages else json_text(event.request_if_readable)
    return f"{asked[-_SAMPLE:]}\n{_answer(event, reading)[:_SAMPLE]}"


def _answer(event: Event, reading: Reading | None = None) -> str:
    if event.damage is not None:
        return f"damaged: {event.damage}"
    if event.error is not None:
        return f"{event.error.get('type')}: {event.error.get('message')}"
    reading = reading or read(event, history=False)
    calls = [f"{call.name}({call.arguments})" for call in reading.tool_calls]
    return "\n".join(part for part in (reading.text, *calls) if part)


def _line(event: Event | None, *, verbose: bool) -> str:
    if event is None:
        return ""
    answer = " ".join(_answer(event).split())
    size = 2000 if verbose else 60
    return answer if len(answer) <= size else answer[: size - 1] + "…"


def render_text(diff: TraceDiff, *, context: int = 1, verbose: bool = False) -> str:
    """The report that `rewind diff` prints: changed steps with `context` equal ones around them."""
    first = diff.first_divergence
    lines = [f"--- {diff.a.path}", f"+++ {diff.b.path}", diff.summary()]
    if first is None:
        return "\n".join([*lines, "the runs are the same"])
    lines += ["", f"first divergence at step {first.step}: {_what(first)}", ""]
    shown = _visible(diff.entries, context)
    skipped = 0
    for index, entry in enumerate(diff.entries):
        if index not in shown:
            skipped += 1
            continue
        if skipped:
            lines.append(f"  … {skipped} equal step{'' if skipped == 1 else 's'}")
            skipped = 0
        lines += _rows(entry, verbose=verbose)
    if skipped:
        lines.append(f"  … {skipped} equal step{'' if skipped == 1 else 's'}")
    return "\n".join(lines)


def _visible(entries: Sequence[DiffEntry], context: int) -> set[int]:
    around = range(-max(context, 0), max(context, 0) + 1)
    return {i + k for i, entry in enumerate(entries) if entry.op != "equal" for k in around}


def _what(entry: DiffEntry) -> str:
    if entry.a is None or entry.b is None:
        run = "second" if entry.a is None else "first"
        event = entry.b if entry.a is None else entry.a
        return f"{event.name if event is not None else ''} is in the {run} run only"
    if entry.a.id == entry.b.id:
        return f"{entry.a.name} was asked the same and answered differently"
    return f"{entry.a.name} was asked something else"


def _rows(entry: DiffEntry, *, verbose: bool) -> list[str]:
    event = entry.a if entry.a is not None else entry.b
    if event is None:
        return []
    head = f"{_SYMBOL[entry.op]} {entry.step:>4}  {event.kind:<6} {event.name}"
    if entry.op != "changed":
        return [f"{head}  {_line(event, verbose=verbose)}".rstrip()]
    rows = [f"{head}  ({entry.similarity:.0%} alike)"]
    if entry.a is not None and entry.b is not None:
        found = first_difference(entry.a.request_if_readable, entry.b.request_if_readable)
        if entry.a.id != entry.b.id and found is not None:
            where, old, new = found
            size = 2000 if verbose else 60
            rows += [
                f"         request {where}",
                f"         - {_cut(old, size)}",
                f"         + {_cut(new, size)}",
            ]
    old, new = _line(entry.a, verbose=verbose), _line(entry.b, verbose=verbose)
    if old != new or verbose:
        rows += ["         answer", f"         - {old}", f"         + {new}"]
    return rows


def _cut(value: object, size: int) -> str:
    text = "(missing)" if value is ... else " ".join(json_text(value).split())
    return text if len(text) <= size else text[: size - 1] + "…"
