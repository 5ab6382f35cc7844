"""Runs the user's program inside a session that covers the whole process, and ends as it ends."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, cast

from ..errors import DivergenceError, RewindError
from .failures import BAD_INPUT, DIVERGED, Failure
from .program import load, user_frames

if TYPE_CHECKING:
    from ..session.api import SessionContext

__all__ = ["main"]

_FORM = ("form", "target")
_ThreadHook = Callable[[threading.ExceptHookArgs], None]


def main() -> None:
    """Read the settings, open the session, run the program. Returns when the program has ended."""
    from .runner import VARIABLE

    text = os.environ.pop(VARIABLE, None)
    if text is None:
        _refuse("this module is started by rewind record, replay and fork only")
    settings = cast("dict[str, object]", json.loads(text))
    form, target = (str(settings.pop(name)) for name in _FORM)
    mode, path = str(settings.pop("mode")), str(settings.pop("path"))
    try:
        context = _session(mode, path, settings)
        program = load(form, target, sys.argv[1:])
        _patch(mode, path)
        context.__enter__()
    except (Failure, RewindError, OSError) as error:
        _refuse(" ".join(str(error).split()))
    ending = _Ending(context)
    atexit.register(ending)
    threading.excepthook = ending.thread_hook(threading.excepthook)
    try:
        program()
    except SystemExit:
        raise
    except BaseException as error:
        trace = user_frames(error.__traceback__)
        ending.failed(error.with_traceback(trace))
        raise


def _session(mode: str, path: str, settings: dict[str, object]) -> SessionContext:
    from ..session import fork, record, replay

    opener = {"record": record, "replay": replay, "fork": fork}[mode]
    return opener(path, scope="process", capture_all=True, **settings)  # type: ignore[arg-type]


def _patch(mode: str, path: str) -> None:
    from ..integrations import auto_patch
    from ..keys import key_variables, set_placeholders
    from .children import watch

    auto_patch()
    if mode == "replay":
        set_placeholders(key_variables(path))
    watch(mode)


def _refuse(text: str) -> NoReturn:
    _say(f"rewind: {text}")
    sys.exit(BAD_INPUT)


def _say(text: str) -> None:
    print(text, file=sys.stderr)  # noqa: T201  the runner's channel beside the program's output


class _Ending:
    """Closes the session when the interpreter exits: after threads and exit handlers are done.

    It was registered before the program could register anything, so it runs last.
    """

    def __init__(self, context: SessionContext) -> None:
        self._context = context
        self._process = os.getpid()
        self._error: BaseException | None = None
        self._reported = False

    def failed(self, error: BaseException) -> None:
        """The program ended with `error`; it is about to be shown by `sys.excepthook`."""
        self._error = error
        trace = error.__traceback__
        show = sys.excepthook

        def hook(kind: type[BaseException], value: BaseException, shown: object) -> None:
            if value is not error:
                show(kind, value, cast("None", shown))
            elif isinstance(value, DivergenceError):
                self._report(value, at=trace)
            else:
                self._reported = _mentions_divergence(value)
                show(kind, value.with_traceback(trace), trace)

        sys.excepthook = hook

    def thread_hook(self, show: Callable[[threading.ExceptHookArgs], object]) -> _ThreadHook:
        """Reports a divergence that ended a thread; everything else is for `show`."""

        def hook(ended: threading.ExceptHookArgs) -> None:
            if isinstance(ended.exc_value, DivergenceError):
                self._report(ended.exc_value)
            else:
                show(ended)

        return hook

    def __call__(self) -> None:
        if os.getpid() != self._process:
            return
        error = self._error
        diverged = self._reported or isinstance(error, DivergenceError)
        try:
            trace = error.__traceback__ if error is not None else None
            self._context.__exit__(type(error) if error is not None else None, error, trace)
        except DivergenceError as miss:
            diverged = True
            self._report(miss)
        except (RewindError, OSError) as trouble:
            _say(f"rewind: {trouble}")
        if diverged:
            _leave(DIVERGED)
        if isinstance(error, KeyboardInterrupt):
            # What python does for an unhandled Ctrl-C: end by the signal, so that the shell sees it.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            _flush()
            os.kill(os.getpid(), signal.SIGINT)

    def _report(self, miss: DivergenceError, at: object = None) -> None:
        if self._reported:
            return
        self._reported = True
        _say(f"rewind: {miss}")
        frames = traceback.extract_tb(cast("None", at)) if at is not None else []
        if frames:
            _say(f"  called from {frames[0].filename}, line {frames[0].lineno}")


def _mentions_divergence(error: BaseException) -> bool:
    """Whether the traceback of `error` shows a divergence in its chain."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        if isinstance(current, DivergenceError):
            return True
        seen.add(id(current))
        if current.__cause__ is not None or current.__suppress_context__:
            current = current.__cause__
        else:
            current = current.__context__
    return False


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()


def _leave(code: int) -> NoReturn:
    """End with `code`: at this point python would end with the program's own."""
    if "logging" in sys.modules:
        sys.modules["logging"].shutdown()
    _flush()
    os._exit(code)
