"""The line of execution a call is made in: which call came before it, and which encloses it.

A `Line` lives in a ContextVar, so tasks, and the threads and pool jobs that carry their
creator's context, continue from the call that started them.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Callable, Generator, Hashable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ..calls import Call
    from .session import Session

__all__ = [
    "Attachment",
    "Branch",
    "Line",
    "Node",
    "branch_into",
    "current_line",
    "running",
    "set_line",
]

T = TypeVar("T")


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
_jobs = threading.local()


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
        line = _job_of(line) or line.spawn()
    line = replace(line, owner=me)
    _line.set(line)
    return line


def _job_of(line: Line) -> Line | None:
    """The branch that this thread's job is, if it was made from `line`.

    Pools that run their jobs in contexts of their own hide the branch that was put into the
    context, but not the thread.
    """
    job: Line | None = getattr(_jobs, "line", None)
    if job is None or job.session is not line.session or job.last is not line.last:
        return None
    depth = len(line.branch)
    return job if job.branch[:depth] == line.branch and len(job.branch) > depth else None


def set_line(line: Line | None) -> contextvars.Token[Line | None]:
    return _line.set(line)


def reset_line(token: contextvars.Token[Line | None]) -> None:
    try:
        _line.reset(token)
    except ValueError:  # closed from another context than it was opened in
        _line.set(None)


@contextlib.contextmanager
def running(session: Session, node: Node) -> Generator[None]:
    """Calls made inside are children of `node`."""
    line = current_line()
    if line is None or line.session is not session:
        yield
        return
    token = set_line(line.within(node))
    try:
        yield
    finally:
        reset_line(token)
        set_line(line.past(node))


def open_line(session: Session) -> Line:
    return Line(session=session, owner=_execution())


class Branch:
    """A line of execution that starts here, numbered now, in a copy of the current context.

    Tasks and pool jobs take it at their creation: the order of their first calls depends on timing.
    """

    __slots__ = ("_context", "_line")

    def __init__(self) -> None:
        line = current_line(adopt=True)
        self._context = contextvars.copy_context()
        self._line = line.spawn() if line is not None else None
        if self._line is not None:
            self._context.run(_line.set, self._line)

    def run(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        return self._context.run(function, *args, **kwargs)

    def run_job(self, function: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
        """`run` in the thread of a pool, where `function` may enter another context at once."""
        before: Line | None = getattr(_jobs, "line", None)
        _jobs.line = self._line
        try:
            return self._context.run(function, *args, **kwargs)
        finally:
            _jobs.line = before


def branch_into(context: contextvars.Context) -> None:
    """Make a fresh copy of the current context a branch; leave any other context alone."""
    if _line.get() is None or context.get(_line) is not _line.get():
        return
    line = current_line(adopt=True)
    assert line is not None
    with contextlib.suppress(RuntimeError):  # it is the current context
        context.run(_line.set, line.spawn())


class Attachment:
    """Puts runs of a framework into a session that no `with` block opened around them.

    Each run is named by its `key`. Runs that follow one another continue one line of execution;
    a run that starts while another is going on is a branch.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._line: Line | None = None
        self._tokens: dict[Hashable, contextvars.Token[Line | None]] = {}
        self._lock = threading.Lock()

    def enter(self, key: Hashable) -> None:
        """From here on, calls of this context belong to the session."""
        current = current_line()
        if current is not None and current.session is self._session:
            return
        with self._lock:
            line = self._line or open_line(self._session)
            self._line = line
            line = line.spawn() if self._tokens else replace(line, owner=_execution())
            self._tokens[key] = set_line(line)

    def leave(self, key: Hashable) -> None:
        """Undo `enter` of the same key; other keys do nothing."""
        with self._lock:
            token = self._tokens.pop(key, None)
            if token is None:
                return
            line = current_line()
            if not self._tokens and line is not None and line.session is self._session:
                self._line = line
        reset_line(token)
