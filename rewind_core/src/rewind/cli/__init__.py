"""The `rewind` command. Importing this package loads nothing: `launch` runs inside user programs."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Entry point of the console script; exits the process."""
    import sys

    from .app import run

    sys.exit(run(sys.argv[1:]))
