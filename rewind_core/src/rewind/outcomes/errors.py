"""Exceptions of decorated functions: as data, and raised again."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

from ..canonical import from_plain, to_plain
from ..errors import ReplayedError, RewindError

if TYPE_CHECKING:
    from ..canonical import Plain

__all__ = ["dump_error", "find_error_class", "revive_error"]

_SCALARS = (str, int, float, bool, type(None))


def dump_error(error: BaseException) -> dict[str, Plain]:
    """An exception as data: its class, message, arguments and plain attributes."""
    kind = type(error)
    attributes = {k: v for k, v in vars(error).items() if isinstance(v, _SCALARS)}
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a foreign __str__
        message = f"<{kind.__name__} whose str() fails>"
    return {
        "type": f"{kind.__module__}:{kind.__qualname__}",
        "message": message,
        "args": to_plain(list(error.args)),
        "attributes": to_plain(attributes),
    }


def find_error_class(spec: object) -> type[BaseException] | None:
    """The exception class named `module:Qualname`, if its module is imported; else `None`."""
    module, _, qualname = str(spec).partition(":")
    found: Any = sys.modules.get(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) and issubclass(found, BaseException) else None


def revive_error(error: dict[str, Plain], step: int) -> BaseException:
    """The recorded error as an instance of `ReplayedError` and of its own class."""
    original = find_error_class(error.get("type"))
    message = str(error.get("message", ""))
    args = cast("list[Any]", from_plain(error.get("args") or []))
    raised: BaseException
    try:
        if original is None:
            raise TypeError
        if not issubclass(original, Exception) or issubclass(original, RewindError):
            return original(*args)
        both = type(
            original.__name__, (ReplayedError, original), {"__module__": original.__module__}
        )
        raised = both.__new__(both, *args)
        raised.args = tuple(args)
        raised.__dict__.update(cast("dict[str, Any]", from_plain(error.get("attributes") or {})))
    except Exception:  # noqa: BLE001 - a foreign class that cannot be made again
        raised = ReplayedError(message)
    replayed = cast("ReplayedError", raised)
    replayed.original_type = str(error.get("type", "")).replace(":", ".")
    replayed.original_message = message
    replayed.step = step
    return raised
