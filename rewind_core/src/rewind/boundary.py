"""The two shells that carry out what the session decides: one sync, one async, nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from .session.decisions import Aside, Rerun, Serve
from .session.lineage import running

if TYPE_CHECKING:
    from .calls import Call
    from .session.decisions import Hints
    from .session.session import Session
    from .session.slots import Slot
    from .trace import Event

__all__ = ["Codec", "arun", "run"]

T = TypeVar("T")


class Codec(Protocol[T]):
    """How one ring's results become recorded outcomes, and back."""

    def record(self, slot: Slot, value: T) -> T:
        """Record `value` and return what the caller gets (the value itself, or a tee of it)."""
        ...

    def record_error(self, slot: Slot, error: BaseException) -> None: ...

    def serve(self, event: Event, hints: Hints) -> T:
        """Rebuild the recorded value, or raise the recorded error."""
        ...


def run(session: Session, call: Call, live: Callable[[], T], codec: Codec[T]) -> T:
    """Serve `call` from the recording, or make it with `live` and record what it does."""
    decision = session.decide(call)
    if isinstance(decision, Aside):
        return live()
    if isinstance(decision, Rerun):
        with running(session, decision.node):
            return live()
    if isinstance(decision, Serve):
        decision.wait()
        return decision.deliver(codec)
    slot = decision.slot
    with slot.running():
        try:
            value = live()
        except BaseException as error:
            slot.protect(codec.record_error, slot, error)
            raise
    return slot.protect(codec.record, slot, value, otherwise=value)


async def arun(
    session: Session, call: Call, live: Callable[[], Awaitable[T]], codec: Codec[T]
) -> T:
    """`run` for a coroutine."""
    decision = session.decide(call)
    if isinstance(decision, Aside):
        return await live()
    if isinstance(decision, Rerun):
        with running(session, decision.node):
            return await live()
    if isinstance(decision, Serve):
        await decision.wait_async()
        return decision.deliver(codec)
    slot = decision.slot
    with slot.running():
        try:
            value = await live()
        except BaseException as error:
            slot.protect(codec.record_error, slot, error)
            raise
    return slot.protect(codec.record, slot, value, otherwise=value)
