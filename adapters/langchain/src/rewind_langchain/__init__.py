"""rewind for LangChain: the front door through which its runs are recorded and replayed."""

from __future__ import annotations

__all__: list[str] = []
