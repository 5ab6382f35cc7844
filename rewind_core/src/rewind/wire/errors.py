"""Transport errors as recorded data, and back as the same class.

A trace is untrusted input: a class is looked up only among modules that are already
imported, and used only if it is an exception.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..errors import ReplayedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..canonical import Plain

__all__ = ["describe", "is_cancellation", "revive"]

_CANCELLATIONS = ("CancelledError", "Cancelled")


def describe(error: BaseException) -> dict[str, Plain]:
    kind = type(error)
    return {"type": f"{kind.__module__}:{kind.__qualname__}", "message": str(error)}


def is_cancellation(type_name: str) -> bool:
    """Whether a recorded type name (or a class name) is that of a cancelled task."""
    return type_name.replace(":", ".").rsplit(".", 1)[-1] in _CANCELLATIONS


def _resolve(type_name: str) -> type[Exception] | None:
    module, _, qualname = type_name.partition(":")
    found: object = sys.modules.get(module)
    for part in qualname.split("."):
        if found is None:
            return None
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    return found if isinstance(found, type) and issubclass(found, Exception) else None


def revive(error: Mapping[str, Plain], step: int = 0) -> Exception:
    """The recorded error as an instance of its own class, or a `ReplayedError` naming it."""
    type_name, message = str(error.get("type", "")), str(error.get("message", ""))
    found = _resolve(type_name)
    if found is not None:
        try:
            return found(message)
        except TypeError:
            plain = found.__new__(found)
            plain.args = (message,)
            return plain
    replayed = ReplayedError(f"{type_name}: {message}")
    replayed.original_type, replayed.original_message = type_name, message
    replayed.step = step
    return replayed
