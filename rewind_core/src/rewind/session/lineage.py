"""The line of execution a call is made in: which call came before it, and which encloses it.

A `Line` lives in a ContextVar, so tasks, and the threads and pool jobs that carry their
creator's context, continue from the call that started them.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..calls import Call
    from .session import Session

__all__ = ["Line", "Node", "branch_context", "current_line", "set_line"]


class Node:
    """One call in this run. `recorded` is the seq of the recorded event it stands for, if any.

    It keeps nothing of the request: the chain of nodes lives as long as the session.
    """

    __slots__ = ("absorbs", "before", "recorded", "ring", "seq")

    def __init__(self, seq: int, call: Call, before: Node | None, recorded: int | None) -> None:
        self.seq = seq
        self.ring = call.ring
        self.absorbs = call.absorbs
        self.before = before
        self.recorded = recorded

    def covers(self, inner: Call) -> bool:
        """Whether `inner`, made while this call runs, is this same logical call."""
        return self.ring != inner.ring and inner.kind in self.absorbs


def _numbers() -> count[int]:
    return count(1)


@dataclass(frozen=True, slots=True)
class Line:
    """`branch` holds the numbers of the branches taken since `last`, `starts` gives the next one."""

    session: Session
    last: Node | None = None
    parent: Node | None = None
    branch: tuple[int, ...] = ()
    owner: int = 0
    starts: count[int] = field(default_factory=_numbers)

    def spawn(self) -> Line:
        """The line of a branch that starts here, numbered in the order of the starts."""
        branch = (*self.branch, next(self.starts))
        return replace(self, branch=branch, owner=0, starts=_numbers())

    def past(self, node: Node) -> Line:
        """This line after the call `node`."""
        return Line(self.session, node, self.parent, (), self.owner)

    def within(self, node: Node) -> Line:
        """The line of what is called while `node` runs."""
        return Line(self.session, node, node, (), self.owner)


_line: contextvars.ContextVar[Line | None] = contextvars.ContextVar("rewind_line", default=None)


def _execution() -> int:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    return id(task) if task is not None else threading.get_ident()


def current_line(*, adopt: bool = False) -> Line | None:
    """The line of the running code; `adopt` numbers it as a branch if it is a new one."""
    line = _line.get()
    if line is None or not adopt:
        return line
    me = _execution()
    if line.owner == me:
        return line
    if line.owner != 0:
        line = line.spawn()
    line = replace(line, owner=me)
    _line.set(line)
    return line


def set_line(line: Line | None) -> contextvars.Token[Line | None]:
    return _line.set(line)


def reset_line(token: contextvars.Token[Line | None]) -> None:
    try:
        _line.reset(token)
    except ValueError:  # closed from another context than it was opened in
        _line.set(None)


def open_line(session: Session) -> Line:
    return Line(session=session, owner=_execution())


def branch_context() -> contextvars.Context:
    """A copy of the current context whose line is a branch of its own, numbered now.

    Tasks and pool jobs take it at their creation: the order of their first calls depends on timing.
    """
    context = contextvars.copy_context()
    line = _line.get()
    if line is not None:
        context.run(_line.set, line.spawn())
    return context
