"""What a session answers to a call: serve this event, go live into this slot, or stand aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from .saying import say

if TYPE_CHECKING:
    from ..boundary import Codec
    from ..trace import Event
    from .lineage import Node
    from .session import Session
    from .slots import Slot

__all__ = ["Aside", "Decision", "Hints", "Live", "Rerun", "Serve"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hints:
    """`retry_next`: the recording goes on with another attempt of this same call.

    `final`: this is the last outcome of a call whose earlier attempts are left out, so it must
    not be tried again.
    """

    retry_next: bool = False
    final: bool = False


@dataclass(frozen=True, slots=True)
class Aside:
    """Not this ring's business: make the call, record nothing."""


@dataclass(frozen=True, slots=True)
class Live:
    slot: Slot


@dataclass(frozen=True, slots=True)
class Rerun:
    """Make the recorded call again and record nothing; what it calls is served."""

    node: Node


@dataclass(frozen=True, slots=True)
class Serve:
    session: Session
    event: Event
    hints: Hints
    ordered: bool = True
    note: tuple[str, type[Warning]] | None = None

    def wait(self) -> None:
        """Hold a thread until what was delivered earlier in the recording has been."""
        if self.ordered:
            self.session.order.wait(self.event.ticks[1])

    async def wait_async(self) -> None:
        if self.ordered:
            await self.session.order.wait_async(self.event.ticks[1])

    def deliver(self, codec: Codec[T]) -> T:
        """Hand the event to the caller: the recorded value, or the recorded error raised."""
        if self.note is not None:
            say(*self.note)
        self.session.delivered(self.event)
        return codec.serve(self.event, self.hints)


Decision = Aside | Live | Rerun | Serve
