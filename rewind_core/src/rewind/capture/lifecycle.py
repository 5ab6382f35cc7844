"""What is put in place while a session is open, and taken away when it closes."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from ..session import on_close, on_open
from ..wire import close_sinks
from .sleeps import SLEEPS
from .sockets import SOCKETS, forget
from .threads import THREADS
from .transports import TRANSPORTS
from .uploads import UPLOADS

if TYPE_CHECKING:
    from ..session import Session
    from .patching import Group

__all__ = ["register"]

_held: weakref.WeakKeyDictionary[Session, tuple[Group, ...]] = weakref.WeakKeyDictionary()
_registered = False


def _groups(session: Session) -> tuple[Group, ...]:
    if session.mode == "replay":
        return (THREADS, *TRANSPORTS, UPLOADS, SOCKETS, SLEEPS)
    return (THREADS, *TRANSPORTS) if session.capture_all else (THREADS,)


def _opened(session: Session) -> None:
    groups = _groups(session)
    for group in groups:
        group.acquire()
    _held[session] = groups


def _closed(session: Session) -> None:
    close_sinks(session)
    for group in reversed(_held.pop(session, ())):
        group.release()
    forget(session)


def register() -> None:
    """Follow the sessions that open from now on. Further calls do nothing."""
    global _registered
    if not _registered:
        _registered = True
        on_open(_opened)
        on_close(_closed)
