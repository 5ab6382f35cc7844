"""Waiting between an SDK's own attempts is cut short on replay; the agent's sleeps are its own."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ..providers import PROVIDERS
from ..session import find
from .patching import Group, Target, Wrapper

__all__ = ["SLEEPS"]

_SDKS = frozenset(provider.package.split(".")[0] for provider in PROVIDERS.values())


def _caller() -> str:
    """The top-level package of the code that called the wrapped function."""
    frame = sys._getframe(2)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage] - the wrapper is called by the sleeping code
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("wrapt"):
        frame = frame.f_back
    return str(frame.f_globals.get("__name__", "")).split(".")[0]


def _sleep(_module: ModuleType) -> Wrapper:
    def sleep(wrapped: Any, _instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _caller() in _SDKS:
            session = find()
            if session is not None and not session.network_allowed():
                return wrapped(0)
        return wrapped(*args, **kwargs)

    return sleep


SLEEPS = Group((
    Target(module="time", path="sleep", make=_sleep),
    Target(module="anyio", path="sleep", make=_sleep),
))  # fmt: skip
