"""In-process stand-ins for a model function: one that plays a script, one that must not be called."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from ..errors import LiveCallDuringReplay, ScriptExhausted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["NeverCalled", "ScriptedLLM"]


class ScriptedLLM:
    """A fake model that plays `script`, one item per call.

    An item that is an exception (instance or class) is raised, one that is callable is called
    with the request's arguments and its result returned, any other value is returned as it is.
    `calls` holds the request of every call: the keyword arguments, or `{"args": (..), **keywords}`
    where there were positional ones. Raises `ScriptExhausted` when the script has ended.
    """

    def __init__(self, script: Iterable[object]) -> None:
        self._script = list(script)
        self.calls: list[dict[str, object]] = []

    @property
    def remaining(self) -> int:
        """How many items of the script have not been played."""
        return max(0, len(self._script) - len(self.calls))

    def __call__(self, *args: object, **request: object) -> object:
        position = len(self.calls)
        self.calls.append({"args": args, **request} if args else dict(request))
        if position >= len(self._script):
            raise ScriptExhausted(
                f"call {position + 1} of a ScriptedLLM whose script has {len(self._script)} items"
            )
        item = self._script[position]
        if isinstance(item, BaseException) or (
            isinstance(item, type) and issubclass(item, BaseException)
        ):
            raise item
        if callable(item):
            play: Callable[..., object] = item
            return play(*args, **request)
        return item


class NeverCalled:
    """Raises `LiveCallDuringReplay` when called: the proof that a replay stayed offline."""

    def __init__(self, label: str = "live call") -> None:
        self.label = label

    def __call__(self, *args: object, **request: object) -> NoReturn:
        raise LiveCallDuringReplay(
            f"{self.label} was reached although everything was to be served from the recording"
        )
