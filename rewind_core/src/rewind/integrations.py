"""Switching on what is captured: one provider's traffic, several, or all HTTP."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Generator

from .capture.active import EVERYTHING, switch_off, switch_on
from .capture.transports import acquire, release
from .providers import PROVIDERS

__all__ = [
    "auto_patch",
    "patch_anthropic",
    "patch_openai",
    "patch_thread_pool",
    "patched",
]

Undo = Callable[[], None]


def _switch(names: tuple[str, ...]) -> Undo:
    acquire()
    for name in names:
        switch_on(name)
    done = False

    def undo() -> None:
        nonlocal done
        if done:
            return
        done = True
        for name in names:
            switch_off(name)
        release()

    return undo


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # the parent of a dotted name
        return False


def _require(name: str) -> None:
    if name not in PROVIDERS:
        known = ", ".join(sorted(PROVIDERS))
        raise ValueError(f"unknown provider {name!r}; known are {known}")
    package = PROVIDERS[name].package
    if not _installed(package):
        raise ImportError(
            f"{package} is not installed: pip install {PROVIDERS[name].dist or package}"
        )


def patch_openai() -> Undo:
    """Capture the traffic of the OpenAI API, whoever speaks it, in every session.

    Returns the function that undoes it; capture lasts until the last of several overlapping
    patches is undone. Raises `ImportError` if the SDK is not installed.
    """
    return auto_patch("openai")


def patch_anthropic() -> Undo:
    """Capture the traffic of the Anthropic API; see `patch_openai`."""
    return auto_patch("anthropic")


def patch_thread_pool() -> Undo:
    """Does nothing: pools and threads carry the session's context by themselves."""
    return lambda: None


def auto_patch(*names: str) -> Undo:
    """Capture the named providers; without names every provider and any other HTTP.

    Raises `ValueError` for an unknown name and `ImportError` for a named provider whose SDK is
    not installed, before anything is patched.
    """
    for name in names:
        _require(name)
    return _switch(names or (EVERYTHING,))


@contextlib.contextmanager
def patched(*names: str) -> Generator[None]:
    """`auto_patch` for the length of a `with` block."""
    undo = auto_patch(*names)
    try:
        yield
    finally:
        undo()
