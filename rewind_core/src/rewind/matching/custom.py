"""A user's own `Matcher`, as a strategy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import SessionError
from .approximate import FuzzyMatcher, OrderedMatcher
from .report import Miss
from .strategy import Choice, Strategy
from .strict import ParallelMatcher, StrictMatcher

if TYPE_CHECKING:
    from ..calls import Call
    from ..session.lineage import Line
    from ..trace import Event, Trace
    from .strategy import Matcher
    from .tape import Tape

__all__ = ["MATCHERS", "check_match", "strategy_for"]

MATCHERS: dict[str, type[Strategy]] = {
    kind.name: kind for kind in (StrictMatcher, OrderedMatcher, FuzzyMatcher, ParallelMatcher)
}
"""The strategies by the name that `match=` takes."""


@dataclass(slots=True)
class _Custom(Strategy):
    """Asks the user's matcher and checks what it gives."""

    matcher: Matcher
    trace: Trace
    forking: bool
    name = "custom"
    in_order = False

    def choose(self, tape: Tape, call: Call, line: Line) -> Choice | Miss:
        live = self.forking and self.matcher.positional and self.at_end(tape, line)
        event = None if live else self._asked(tape, call)
        if event is None:
            return Miss.unknown(call, tape.nearest(call, line))
        if tape.events.get(event.seq) is not event:
            raise SessionError(
                f"{self.matcher!r} gave {event!r}, which is no event of the trace below step "
                f"{tape.limit}"
            )
        if event.damage is not None:
            return Miss.damaged(call, event)
        if event.seq in tape.served:
            return Miss.exhausted(call, event, times=1)
        return Choice(event)

    def at_end(self, tape: Tape, line: Line) -> bool:
        return not self.matcher.positional or len(tape.served) >= tape.limit

    def _asked(self, tape: Tape, call: Call) -> Event | None:
        asked = (len(tape.served), call.kind, call.name, call.id, call.request, self.trace)
        if self.forking and not self.matcher.positional:
            return self.matcher.serve_prefix(*asked, tape.limit)
        return self.matcher.match(*asked)


def strategy_for(match: str | Strategy | Matcher, trace: Trace, *, forking: bool) -> Strategy:
    """The strategy that `match=` names or is. Raises `SessionError` for anything else."""
    if isinstance(match, str):
        return MATCHERS[match]()
    if isinstance(match, Strategy):
        return match
    return _Custom(match, trace, forking)


def check_match(match: object, *, forking: bool) -> None:
    """Refuse what is neither the name of a strategy nor one."""
    if isinstance(match, str):
        known = ", ".join(repr(name) for name in MATCHERS)
        if match not in MATCHERS:
            raise SessionError(f"match={match!r} is not known; there is {known}")
        return
    if isinstance(match, Strategy):
        return
    needed = ["positional", "match"]
    if forking and not getattr(match, "positional", True):
        needed.append("serve_prefix")
    missing = [name for name in needed if not hasattr(match, name)]
    if isinstance(match, type) or missing:
        why = (
            "it is a class, give an instance"
            if isinstance(match, type)
            else f"it has no {missing[0]!r}"
        )
        raise SessionError(f"match={match!r} is not a matcher: {why}")
