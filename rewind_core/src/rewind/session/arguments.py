"""What `record`, `replay` and `fork` accept; anything else is refused before the run starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from ..errors import SessionError

__all__ = ["check_choice", "check_hook", "check_step", "host_names"]


def check_choice(name: str, value: object, known: Sequence[str]) -> None:
    """Refuse a word that is not one of `known`."""
    if value not in known:
        words = ", ".join(repr(word) for word in known)
        raise SessionError(f"{name}={value!r} is not known; there is {words}")


def check_step(name: str, value: object) -> None:
    """Refuse what is no step number."""
    if type(value) is not int:
        raise SessionError(f"{name}={value!r} is no step: give its number, an int")


def check_hook(name: str, value: object) -> None:
    """Refuse what cannot be called."""
    if value is not None and not callable(value):
        raise SessionError(f"{name}={value!r} cannot be called: give a function of one argument")


def host_names(name: str, value: object) -> frozenset[str]:
    """The hosts given; a text is refused, because it would be taken letter by letter."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise SessionError(f"{name}={value!r}: give a list of host names")
    hosts = frozenset(cast("Iterable[object]", value))
    for host in hosts:
        if not isinstance(host, str):
            raise SessionError(f"{name} holds {host!r}: give host names as text")
    return cast("frozenset[str]", hosts)
