"""What ends a command early: one line on stderr and an exit code, never a traceback."""

from __future__ import annotations

__all__ = ["BAD_INPUT", "DIVERGED", "Failure"]

DIVERGED = 3
"""Exit code of a replay that left its recording."""

BAD_INPUT = 2


class Failure(Exception):
    """Bad input; the text is what the user reads after `rewind: `."""
