"""The runs that a handler has seen start, and which of them the next call belongs to.

A model's method does not say which run it is made for, so a run's token waits in the context
from the run's start until the method that does its work takes it.
"""

from __future__ import annotations

import contextvars
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rewind.adapting import Session

__all__ = ["Run", "claim", "forget", "offer"]


@dataclass(slots=True, kw_only=True)
class Run:
    """One run of a handler. `within` names the runs around it, the outermost first."""

    session: Session
    kind: str
    name: str
    run_id: Any
    parent_run_id: Any
    within: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    inputs: Any = None
    runs: bool = False
    taken: bool = False

    @property
    def meta(self) -> dict[str, Any]:
        """What an event says of its run."""
        found: dict[str, Any] = {"run_id": str(self.run_id)}
        if self.parent_run_id is not None:
            found["parent_run_id"] = str(self.parent_run_id)
        if self.within:
            found["within"] = list(self.within)
        if self.tags:
            found["tags"] = list(self.tags)
        if self.metadata:
            found["metadata"] = dict(self.metadata)
        return found


_waiting: contextvars.ContextVar[tuple[Run, ...]] = contextvars.ContextVar(
    "rewind_langchain_runs", default=()
)


def offer(run: Run) -> None:
    """Let the next call of the run's kind take it."""
    _waiting.set((*_waiting.get(), run))


def forget(run_id: object) -> None:
    """The run is over, whether it was taken or not."""
    waiting = _waiting.get()
    if waiting:
        _waiting.set(tuple(run for run in waiting if run.run_id != run_id))


def claim(kind: str, manager: Any) -> Run | None:
    """The run that a call with this run manager does the work of.

    Streaming calls have no manager: theirs is the run that started last.
    """
    waiting = _waiting.get()
    if not waiting:
        return None
    wanted = getattr(manager, "run_id", None)
    for run in reversed(waiting):
        if run.kind == kind and not run.taken and wanted in (None, run.run_id):
            run.taken = True
            return run
    return None
