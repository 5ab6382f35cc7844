"""The recorded events of a session, and which of them have been served to whom."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..calls import Call
    from ..session.lineage import Line, Node
    from ..trace import Event

__all__ = ["Tape"]


class Tape:
    """The recorded events with `seq < limit`, and which of them have been served.

    With `in_order` it notes which events were overtaken by a later one of their line.
    """

    def __init__(
        self, events: Sequence[Event], limit: int | None = None, *, in_order: bool = True
    ) -> None:
        self._in_order = in_order
        self.limit = limit if limit is not None else len(events) and events[-1].seq + 1
        self.events = {event.seq: event for event in events if event.seq < self.limit}
        self.served: set[int] = set()
        self.running: set[int] = set()
        self._damaged: list[Event] = []
        self._by_id: dict[str, list[int]] = {}
        self._first_open: dict[str, int] = {}
        self._order = sorted(self.events)
        self._done = 0
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

    def ticks(self) -> list[int]:
        """The ticks of all starts, deliveries and ends."""
        return [tick for event in self.events.values() for tick in (*event.ticks, event.ended)]

    def open_with(self, identity: str) -> Iterator[int]:
        """Unserved, reachable events of this identity, the earliest first."""
        same = self._by_id.get(identity)
        if same is None:
            return
        start = self._first_open.get(identity, 0)
        while start < len(same) and same[start] in self.served:
            start += 1
        self._first_open[identity] = start
        for index in range(start, len(same)):
            if same[index] not in self.served and self.reachable(same[index]):
                yield same[index]

    def recorded_times(self, identity: str) -> int:
        """How many events of this identity the recording has."""
        return len(self._by_id.get(identity, ()))

    def last_with(self, identity: str) -> Event:
        """The last event of this identity."""
        return self.events[self._by_id[identity][-1]]

    def open_after(self, seq: int | None) -> Iterator[Event]:
        """Unserved, reachable, sound events recorded later than `seq`."""
        start = 0 if seq is None else bisect_right(self._order, seq)
        for index in range(max(start, self._done), len(self._order)):
            event = self.events[self._order[index]]
            if event.seq in self.served:
                if index == self._done:
                    self._done += 1
            elif event.damage is None and self.reachable(event.seq):
                yield event

    def lost(self, call: Call, *, by_name: bool) -> Event | None:
        """A damaged event that may be the one that is asked for."""
        for lost in self._damaged:
            if lost.id == call.id or (by_name and lost.name in ("", call.name)):
                return lost
        return None

    def lost_before(self, event: Event) -> Event | None:
        """The damaged event that has to be asked for before `event`, if there is one."""
        before = self._open_ancestor(event.after)
        found = self.events[before] if before is not None else event
        return found if found.damage is not None else None

    def reachable(self, seq: int) -> bool:
        """Whether an event belongs to the run itself, or to a call that is running again."""
        parent = self.events[seq].parent
        return parent is None or parent in self.running

    def upstream_fits(self, event: Event, call: Call) -> bool:
        """Whether the event came from the server that the call goes to."""
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

    def contradicts(self, seq: int, last: Node | None) -> bool:
        """Whether this line was already given something that was recorded after event `seq`."""
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
        skipped = self._open_ancestor(event.after) if self._in_order else None
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
            if seq in self.served or not self.reachable(seq):
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
