"""Which session a call belongs to, and who wants to know when one opens or closes."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..errors import SessionError, ThreadlessCallWarning
from .lineage import current_line
from .saying import say

if TYPE_CHECKING:
    from .session import Session

__all__ = [
    "any_open",
    "current_session",
    "find",
    "on_close",
    "on_open",
    "telemetry_is_quiet",
    "warn_stray",
]

_open: list[Session] = []
_process: list[Session] = []
_on_open: list[Callable[[Session], None]] = []
_on_close: list[Callable[[Session], None]] = []
_warned_stray = False


def any_open() -> bool:
    return bool(_open)


def find() -> Session | None:
    """The session that a call made here belongs to: the context's, else the process-wide one.

    In a forked child process a recording session stands aside, and a replaying one refuses.
    """
    if not _open:
        return None
    line = current_line()
    session = line.session if line is not None and not line.session.closed else None
    if session is None and _process:
        session = _process[-1]
    if session is not None and session.pid != os.getpid():
        if session.mode == "replay":
            session.refuse("a forked child process cannot be served", name="a call")
        return None
    return session


def telemetry_is_quiet(session: Session | None) -> bool:
    """Whether an upload of `session` (`None`: of no session) is answered here, not sent.

    Exporters post from threads that are older than any session, so a replay keeps the uploads of
    the whole process in, but those of a session that may use the network.
    """
    if session is not None:
        return not session.network_allowed()
    return any(not one.network_allowed() and one.pid == os.getpid() for one in _open)


def current_session() -> Session | None:
    """The session active in this context, or `None`."""
    return find()


def warn_stray(name: str) -> None:
    """Say once that a call was made outside every open session."""
    global _warned_stray
    if _warned_stray or not _open:
        return
    _warned_stray = True

    say(
        f"{name} was called outside every open session and is neither recorded nor served; "
        "make the call in the session's context, or open it with scope='process'",
        ThreadlessCallWarning,
    )


def on_open(callback: Callable[[Session], None]) -> None:
    """Call `callback` with each session that opens from now on."""
    _on_open.append(callback)


def on_close(callback: Callable[[Session], None]) -> None:
    _on_close.append(callback)


def enter(session: Session, *, process: bool) -> None:
    global _warned_stray
    if process and _process:
        raise SessionError("a process-wide session is open already; close it first")
    if not _open:
        _warned_stray = False
    _open.append(session)
    if process:
        _process.append(session)
    for callback in _on_open:
        callback(session)


def leave(session: Session) -> None:
    if session in _process:
        _process.remove(session)
    if session in _open:
        _open.remove(session)
    for callback in _on_close:
        callback(session)
