"""What a closing replay has to say: misses nobody handled, skipped calls, leftovers."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import DivergenceError, UnconsumedEventsWarning
from .saying import say

if TYPE_CHECKING:
    from ..trace import Event
    from .session import Session

__all__ = ["settle"]

_LIBRARIES = tuple({
    str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "purelib", "platlib")
})  # fmt: skip
_TEST_RUNNERS = ("_pytest", "pytest", "unittest")


def _reached_user(error: BaseException) -> bool:
    """Whether `error` came out of the libraries: then the program's own code has caught it."""
    trace = error.__traceback__
    if trace is None:
        return False
    frame = trace.tb_frame
    module = str(frame.f_globals.get("__name__", ""))
    if module.split(".")[0] == "rewind":
        return False
    if module.split(".")[0] in _TEST_RUNNERS:
        return True
    return not str(Path(frame.f_code.co_filename).resolve()).startswith(_LIBRARIES)


def _chain(error: BaseException | None) -> set[int]:
    """Ids of `error`, its members if it is a group, and everything it was raised from."""
    seen: set[int] = set()
    stack = [error]
    while stack:
        one = stack.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        stack.extend(getattr(one, "exceptions", ()))
    return seen


def settle(session: Session, error: BaseException | None) -> None:
    """Raise what the replay found wrong, chained to `error` if that is propagating."""
    propagating = _chain(error)
    open_misses = [m for m in session.misses if id(m) not in propagating and not _reached_user(m)]
    if isinstance(error, DivergenceError):
        return
    if open_misses:
        miss = open_misses[0]
        raise miss.with_traceback(miss.__traceback__) from error
    if error is not None or session.misses:
        return
    if session.mode == "fork":
        return
    skipped = session.tape.skipped()
    if skipped:
        raise _incomplete(session, skipped, "was skipped: a later call of its line was served")
    rest = session.tape.left_over()
    if not rest:
        return
    if session.require_full_consumption:
        raise _incomplete(session, rest, "was never asked for (require_full_consumption=True)")
    first = rest[0]
    say(
        f"{len(rest)} of {len(session.tape)} recorded events were not asked for, "
        f"the first is step {first.seq} ({first.name})",
        UnconsumedEventsWarning,
    )


def _incomplete(session: Session, events: list[Event], why: str) -> DivergenceError:
    first = events[0]
    more = f" ({len(events)} such steps)" if len(events) > 1 else ""
    reason = f"recorded step {first.seq} {why}{more}"
    text = (
        f"replay ended incomplete: {reason}\n  step {first.seq}: {first.kind} {first.name}\n"
        f"  look at the step: rewind cat {session.path} --event {first.seq}"
    )
    return DivergenceError(text, step=first.seq, reason=reason, expected=first.request_if_readable)
