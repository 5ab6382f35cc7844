"""`python -m rewind` is the `rewind` command."""

from __future__ import annotations

from .cli import main

main()
