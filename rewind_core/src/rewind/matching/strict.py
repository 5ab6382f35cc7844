"""Matching by content: strict, and without any order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .report import Miss
from .strategy import Choice, Strategy

if TYPE_CHECKING:
    from ..calls import Call
    from ..session.lineage import Line
    from .tape import Tape

__all__ = ["ParallelMatcher", "StrictMatcher"]


@dataclass(frozen=True, slots=True)
class StrictMatcher(Strategy):
    """By content, ordered by lineage.

    A call is answered only by a recorded event of equal identity. Order is demanded where it
    means something: along one line of execution. An event is refused when the recording says
    it came before something that this line has already been given.
    """

    name = "strict"
    in_order = True

    def choose(self, tape: Tape, call: Call, line: Line) -> Choice | Miss:
        last = line.last.recorded if line.last is not None else None
        best: tuple[bool, bool, int] | None = None
        for seq in tape.open_with(call.id):
            event = tape.events[seq]
            if not tape.upstream_fits(event, call) or tape.contradicts(seq, line.last):
                continue
            rank = (event.after != last, tuple(event.branch) != line.branch, seq)
            best = rank if best is None else min(best, rank)
            if not (best[0] or best[1]):  # the recorded successor of this very line
                break
        if best is None:
            return explain(tape, call, line)
        event = tape.events[best[2]]
        lost = tape.lost_before(event)
        return Choice(event) if lost is None else Miss.damaged(call, lost)


@dataclass(frozen=True, slots=True)
class ParallelMatcher(Strategy):
    """By content alone; equal requests are answered in the order of the recording."""

    name = "parallel"
    in_order = False

    def choose(self, tape: Tape, call: Call, line: Line) -> Choice | Miss:
        for seq in tape.open_with(call.id):
            if tape.upstream_fits(tape.events[seq], call):
                return Choice(tape.events[seq])
        return explain(tape, call, line)


def explain(tape: Tape, call: Call, line: Line) -> Miss:
    """Why no event of the call's identity answers it."""
    fresh = [tape.events[seq] for seq in tape.open_with(call.id)]
    fits = [event for event in fresh if tape.upstream_fits(event, call)]
    lost = tape.lost(call, by_name=not fits)
    if lost is not None:
        return Miss.damaged(call, lost)
    if fits:
        return Miss.order(call, fits[0])
    if fresh:
        return Miss.upstream(call, fresh[0])
    times = tape.recorded_times(call.id)
    if times:
        return Miss.exhausted(call, tape.last_with(call.id), times=times)
    return Miss.unknown(call, tape.nearest(call, line))
