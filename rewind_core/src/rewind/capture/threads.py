"""Tasks, threads and pool jobs are branches of the code that started them, in that order."""

from __future__ import annotations

from functools import partial
from types import ModuleType
from typing import Any

from ..session import Branch, branch_into, find
from .patching import Group, Target, Wrapper

__all__ = ["THREADS"]

_POOL = "concurrent.futures.thread"


def _start(_module: ModuleType) -> Wrapper:
    def start(wrapped: Any, thread: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        target = getattr(thread, "_target", None)
        if find() is None or getattr(target, "__module__", "") == _POOL:
            return wrapped(*args, **kwargs)
        branch, run = Branch(), thread.run

        def run_in_context() -> None:
            vars(thread).pop("run", None)
            branch.run(run)

        thread.run = run_in_context
        try:
            return wrapped(*args, **kwargs)
        except BaseException:
            vars(thread).pop("run", None)
            raise

    return start


def _submit(_module: ModuleType) -> Wrapper:
    def submit(wrapped: Any, _pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not args or find() is None:
            return wrapped(*args, **kwargs)
        function, *rest = args
        return wrapped(partial(Branch().run_job, function), *rest, **kwargs)

    return submit


def _create_task(_module: ModuleType) -> Wrapper:
    def create_task(wrapped: Any, _loop: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if find() is None:
            return wrapped(*args, **kwargs)
        if (context := kwargs.get("context")) is not None:
            branch_into(context)
            return wrapped(*args, **kwargs)
        return Branch().run(wrapped, *args, **kwargs)

    return create_task


THREADS = Group((
    Target(module="threading", path="Thread.start", make=_start),
    Target(module=_POOL, path="ThreadPoolExecutor.submit", make=_submit),
    Target(module="asyncio.base_events", path="BaseEventLoop.create_task", make=_create_task),
    Target(module="uvloop", path="Loop.create_task", make=_create_task),
))  # fmt: skip
