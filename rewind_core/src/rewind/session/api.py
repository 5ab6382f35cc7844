"""`record`, `replay` and `fork`: the three ways to open a session."""

from __future__ import annotations

import contextvars
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, cast

from ..errors import SessionError, TraceDamageWarning
from ..matching import Matcher, Strategy, check_match, strategy_for
from ..redact import Masker
from ..trace import Event, Trace, TraceWriter
from . import registry
from .arguments import check_choice, check_hook, check_step, host_names
from .ending import settle
from .lineage import Line, current_line, open_line, reset_line, set_line
from .saying import say
from .session import Hook, Session

if TYPE_CHECKING:
    from ..canonical import Plain

__all__ = ["SessionContext", "fork", "record", "replay"]

Scope = Literal["context", "process"]


class SessionContext:
    """Opens its session on entry (`with` or `async with`) and closes it on exit. Use once."""

    def __init__(self, open_session: Callable[[], Session], scope: Scope) -> None:
        self._open = open_session
        self._scope = scope
        self._session: Session | None = None
        self._token: contextvars.Token[Line | None] | None = None

    def start(self) -> Session:
        """Open the session without putting the running code into it (see `Attachment`)."""
        if self._session is not None:
            raise SessionError("this session was opened before; call record/replay/fork again")
        session = self._open()
        self._session = session
        try:
            registry.enter(session, process=self._scope == "process")
        except BaseException:
            _finish(session)
            raise
        return session

    def stop(self, error: BaseException | None = None) -> None:
        """Close the session; a replay raises what it found wrong, chained to `error`."""
        session = self._session
        if session is None or session.closed:
            return
        registry.leave(session)
        if session.pid != os.getpid():
            return
        _finish(session)
        if session.mode != "record":
            settle(session, error)

    def __enter__(self) -> Session:
        line = current_line()
        if line is not None and not line.session.closed and self._session is None:
            raise SessionError(
                f"sessions do not nest: a {line.session.mode} of {line.session.path} is open here"
            )
        session = self.start()
        self._token = set_line(open_line(session))
        return session

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._token is not None and self._session is not None and not self._session.closed:
            reset_line(self._token)
        self.stop(error)

    async def __aenter__(self) -> Session:
        return self.__enter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.__exit__(kind, error, trace)


def _opened(path: str | os.PathLike[str]) -> Trace:
    trace = Trace.open(path)
    if trace.damage:
        more = f" and {len(trace.damage) - 1} more" if len(trace.damage) > 1 else ""
        say(
            f"{trace.path} is damaged: {trace.damage[0]}{more}; what they hold cannot be served",
            TraceDamageWarning,
        )
    return trace


def _finish(session: Session) -> None:
    session.closed = True
    if session.writer is not None:
        session.writer.close(session.started)


def record(
    path: str | os.PathLike[str],
    *,
    meta: Mapping[str, Any] | None = None,
    redact: Hook | None = None,
    normalize: Hook | None = None,
    scope: Scope = "context",
    ignore: Iterable[str] = (),
    capture_all: bool = False,
) -> SessionContext:
    """Record a live run to `path`.

    The file is `path.partial` until the session closes. `meta` lands in the trace's header,
    `redact` changes what is stored (never what is matched), `normalize` what is matched (never
    what is stored; give the same function to `replay`). `ignore` lists hosts to leave alone.

    Raises `SessionError` for a nested session, `OSError` if `path` cannot be written.
    """
    _check_common(scope, redact, normalize)
    ignored = host_names("ignore", ignore)

    def open_session() -> Session:
        masker = Masker()
        masker.learn_environment()
        masked = cast("dict[str, Plain]", masker.plain(dict(meta or {})))
        writer = TraceWriter(Path(path), mode="record", meta=masked)
        return Session(
            mode="record", path=Path(path), writer=writer, masker=masker, redact=redact,
            normalize=normalize, ignore=ignored, capture_all=capture_all,
        )  # fmt: skip

    return SessionContext(open_session, scope)


def replay(
    path: str | os.PathLike[str],
    *,
    match: str | Strategy | Matcher = "strict",
    require_full_consumption: bool = False,
    on_step: Callable[[Event], object] | None = None,
    break_at: int | None = None,
    redact: Hook | None = None,
    normalize: Hook | None = None,
    scope: Scope = "context",
    allow_hosts: Iterable[str] = (),
    ignore: Iterable[str] = (),
    retries: Literal["all", "final"] = "all",
    capture_all: bool = False,
) -> SessionContext:
    """Replay the trace at `path`, offline.

    `match` says which recorded event answers a call: "strict" (the same request, in the order of
    its line of execution), "ordered" (by position, whatever is asked), "fuzzy" (the most similar
    request), "parallel" (the same request, in any order), a configured one such as
    `FuzzyMatcher(threshold=0.8)`, or a `Matcher` of your own.
    `on_step` is called with each served event, `break_at` calls `breakpoint()` at that step,
    `allow_hosts` lists hosts that may be connected to all the same, `retries="final"` serves
    only the last attempt of a retried call.

    Raises `TraceFormatError` if the trace cannot be read, `DivergenceError` (at the call, or at
    exit) when the run leaves the recording.
    """
    check_match(match, forking=False)
    check_choice("retries", retries, ("all", "final"))
    if break_at is not None:
        check_step("break_at", break_at)
    check_hook("on_step", on_step)
    _check_common(scope, redact, normalize)
    allowed, ignored = host_names("allow_hosts", allow_hosts), host_names("ignore", ignore)

    def open_session() -> Session:
        trace = _opened(path)
        return Session(
            mode="replay", path=Path(path), trace=trace, redact=redact,
            strategy=strategy_for(match, trace, forking=False), normalize=normalize, on_step=on_step, break_at=break_at,
            require_full_consumption=require_full_consumption, allow_hosts=allowed,
            ignore=ignored, retries=retries, capture_all=capture_all,
        )  # fmt: skip

    return SessionContext(open_session, scope)


def fork(
    path: str | os.PathLike[str],
    *,
    at: int,
    match: str | Strategy | Matcher = "strict",
    save_as: str | os.PathLike[str] | None = None,
    redact: Hook | None = None,
    normalize: Hook | None = None,
    scope: Scope = "context",
    ignore: Iterable[str] = (),
    capture_all: bool = False,
) -> SessionContext:
    """Serve the steps `[0, at)` of the trace at `path`, then go live.

    `at=len(trace)` extends a finished run. `save_as` writes the whole forked run as a trace of
    its own, with where it was forked from in its header.

    Raises `SessionError` if `at` is out of range or `save_as` is the trace itself.
    """
    check_match(match, forking=True)
    check_step("at", at)
    _check_common(scope, redact, normalize)
    ignored = host_names("ignore", ignore)

    def open_session() -> Session:
        source = Path(path)
        trace = _opened(source)
        if not 0 <= at <= len(trace):
            raise SessionError(
                f"at={at} is out of range: {path} has {len(trace)} events (0 to {len(trace)})"
            )
        writer = None
        if save_as is not None:
            target = Path(save_as)
            if target.resolve() == source.resolve():
                raise SessionError(
                    f"save_as={save_as} is the trace that is forked; choose another name"
                )
            forked_from = {"path": str(path), "id": trace.header.id, "at": at}
            writer = TraceWriter(
                target, mode="fork", meta=dict(trace.meta), forked_from=forked_from
            )
        return Session(
            mode="fork", path=source, trace=trace, at=at, writer=writer, redact=redact,
            strategy=strategy_for(match, trace, forking=True),
            normalize=normalize, ignore=ignored, capture_all=capture_all,
        )  # fmt: skip

    return SessionContext(open_session, scope)


def _check_common(scope: str, redact: object, normalize: object) -> None:
    check_choice("scope", scope, ("context", "process"))
    check_hook("redact", redact)
    check_hook("normalize", normalize)
