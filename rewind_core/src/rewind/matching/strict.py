"""Strict matching: by content, ordered by lineage.

A call is answered only by a recorded event of equal identity. Order is demanded where it
means something: along one line of execution. An event is refused when the recording says
it came before something that this line has already been given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from .report import Miss

if TYPE_CHECKING:
    from ..calls import Call
    from ..session.lineage import Line, Node
    from ..trace import Event

__all__ = ["Tape"]


class Tape:
    """The recorded events with `seq < limit`, and which of them have been served."""

    def __init__(self, events: Sequence[Event], limit: int | None = None) -> None:
        self.limit = limit if limit is not None else len(events) and events[-1].seq + 1
        self.events = {event.seq: event for event in events if event.seq < self.limit}
        self.served: set[int] = set()
        self.running: set[int] = set()
        self._damaged: list[Event] = []
        self._by_id: dict[str, list[int]] = {}
        self._children: dict[int, list[int]] = {}
        self._followers: dict[int | None, list[int]] = {}
        self._next_open: dict[int, int | None] = {}
        self._passed: dict[int, list[Node]] = {}
        self._origin_of: dict[str, str] = {}
        self._label_of: dict[str, str] = {}
        for event in events:
            if event.parent is not None:
                self._children.setdefault(event.parent, []).append(event.seq)
            if event.seq < self.limit and event.damage is not None:
                self._damaged.append(event)
            elif event.seq < self.limit:
                self._by_id.setdefault(event.id, []).append(event.seq)
                self._followers.setdefault(event.after, []).append(event.seq)

    def __len__(self) -> int:
        return len(self.events)

    def match(self, call: Call, line: Line) -> Event | Miss:
        """The event that answers `call`, or why none does. Changes nothing."""
        same = self._by_id.get(call.id, [])
        fresh = [s for s in same if s not in self.served and self._reachable(s)]
        fits = [s for s in fresh if self._upstream_fits(self.events[s], call)]
        allowed = [s for s in fits if not self._contradicts(s, line.last)]
        if allowed:
            event = self.events[min(allowed, key=lambda s: self._rank(s, line))]
            before = self._open_ancestor(event.after)
            lost = self.events[before] if before is not None else event
            return Miss.damaged(call, lost) if lost.damage is not None else event
        for lost in self._damaged:
            if lost.id == call.id or (not fits and lost.name in ("", call.name)):
                return Miss.damaged(call, lost)
        if fits:
            return Miss.order(call, self.events[fits[0]])
        if same and not fresh:
            return Miss.exhausted(call, self.events[same[-1]], times=len(same))
        if fresh:
            return Miss.upstream(call, self.events[fresh[0]])
        return Miss.unknown(call, self.nearest(call, line))

    def _rank(self, seq: int, line: Line) -> tuple[bool, bool, int]:
        event = self.events[seq]
        last = line.last.recorded if line.last is not None else None
        return (event.after != last, tuple(event.branch) != line.branch, seq)

    def _reachable(self, seq: int) -> bool:
        parent = self.events[seq].parent
        return parent is None or parent in self.running

    def _upstream_fits(self, event: Event, call: Call) -> bool:
        label = event.upstream
        if call.origin is None:
            return label is None or label == call.upstream
        if label is None:
            return True
        return (
            self._label_of.get(call.origin, label) == label
            and self._origin_of.get(label, call.origin) == call.origin
            and label.startswith("upstream-")
        )

    def _contradicts(self, seq: int, last: Node | None) -> bool:
        overtakers = self._passed.get(seq)
        if not overtakers:
            return False
        while last is not None:
            if last in overtakers:
                return True
            last = last.before
        return False

    def take(self, event: Event, call: Call, node: Node, *, run: bool = False) -> None:
        """Mark `event` as served to `node`; with `run`, its children will be served one by one."""
        self.served.add(event.seq)
        if run:
            self.running.add(event.seq)
        else:
            self.served.update(self.descendants(event.seq))
        if call.origin is not None and event.upstream is not None:
            self._label_of[call.origin] = event.upstream
            self._origin_of[event.upstream] = call.origin
        skipped = self._open_ancestor(event.after)
        while skipped is not None:
            self._passed.setdefault(skipped, []).append(node)
            skipped = self._open_ancestor(self.events[skipped].after)

    def _open_ancestor(self, seq: int | None) -> int | None:
        """The nearest event at or before `seq` in its lineage that is still unserved."""
        path: list[int] = []
        while seq is not None and (seq in self.served or seq not in self.events):
            path.append(seq)
            if seq in self._next_open:
                seq = self._next_open[seq]
            else:
                seq = self.events[seq].after if seq in self.events else None
        for step in path:  # what is served stays served
            self._next_open[step] = seq
        return seq

    def descendants(self, seq: int) -> Iterator[int]:
        """Events recorded inside event `seq`, at any depth."""
        stack = list(self._children.get(seq, ()))
        while stack:
            child = stack.pop()
            stack.extend(self._children.get(child, ()))
            yield child

    def crosses_limit(self, event: Event) -> bool:
        """Whether the fork point lies inside `event`, so that it has to run."""
        return any(child >= self.limit for child in self.descendants(event.seq))

    def expected(self, line: Line) -> Event | None:
        """The unserved event that followed this line's last call in the recording."""
        last = line.last.recorded if line.last is not None else None
        for seq in self._followers.get(last, ()):
            event = self.events[seq]
            if seq in self.served or not self._reachable(seq):
                continue
            if tuple(event.branch) == line.branch or not event.branch:
                return event
        return None

    def next_attempt(self, event: Event) -> Event | None:
        """The recorded retry of `event` by its SDK, if there was one."""
        for seq in self._followers.get(event.seq, ()):
            later = self.events[seq]
            if later.name == event.name and later.attempt == event.attempt + 1:
                return later
        return None

    def nearest(self, call: Call, line: Line) -> Event | None:
        """The unserved event most likely meant: the next one here, else the next of this name."""
        expected = self.expected(line)
        if expected is not None and expected.name == call.name:
            return expected
        rest = (e for e in self.events.values() if e.seq not in self.served)
        named = next((e for e in rest if e.name == call.name), None)
        return named or expected

    def left_over(self) -> list[Event]:
        return [e for e in self.events.values() if e.seq not in self.served]

    def skipped(self) -> list[Event]:
        """Unserved events that a later event of their own lineage has overtaken."""
        return [event for event in self.left_over() if event.seq in self._passed]
