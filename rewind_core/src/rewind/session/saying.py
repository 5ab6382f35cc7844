"""Warnings that never stop the program that is recorded or replayed."""

from __future__ import annotations

import sys
import warnings

__all__ = ["say"]


def say(message: str, category: type[Warning]) -> None:
    """Warn, also where warnings are errors: then on stderr."""
    try:
        warnings.warn(message, category, stacklevel=3)
    except Warning:
        print(f"rewind: {message}", file=sys.stderr)
