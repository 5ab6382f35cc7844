"""What a matching strategy is, and what it answers."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from ..calls import Call
    from ..canonical import Plain
    from ..session.lineage import Line
    from ..trace import Event, Trace
    from .report import Miss
    from .tape import Tape

__all__ = ["Choice", "Matcher", "Strategy"]


@dataclass(frozen=True, slots=True)
class Choice:
    """The event that answers a call; `note` is a warning to give with it."""

    event: Event
    note: tuple[str, type[Warning]] | None = None


class Strategy(abc.ABC):
    """A matching rule of the project's own. It chooses and changes nothing.

    With `in_order`, an event that a later one of its line overtook is a fault of the run.
    """

    __slots__ = ()
    name: ClassVar[str]
    in_order: ClassVar[bool]

    @abc.abstractmethod
    def choose(self, tape: Tape, call: Call, line: Line) -> Choice | Miss:
        """The event that answers `call`, or why none does."""

    def at_end(self, tape: Tape, line: Line) -> bool:
        """Whether a fork goes live with a call that nothing recorded before its `at` answers."""
        return not self.in_order or tape.expected(line) is None


class Matcher(Protocol):
    """A matching rule of the user's own, given as `match=`.

    `cursor` counts the events served so far, `fp` is the identity of the call, `request` its
    plain form. Return the event of `trace` that answers the call, or None. An event answers once.

    With `positional` a fork goes live at its `at`; only `match` is asked. Without it a fork
    asks `serve_prefix`, which may give any event numbered below `limit`, or None to go live.
    """

    positional: bool

    def match(
        self, cursor: int, kind: str, name: str, fp: str, request: Mapping[str, Plain],
        trace: Trace,
    ) -> Event | None: ...  # fmt: skip

    def serve_prefix(
        self, cursor: int, kind: str, name: str, fp: str, request: Mapping[str, Plain],
        trace: Trace, limit: int,
    ) -> Event | None: ...  # fmt: skip
