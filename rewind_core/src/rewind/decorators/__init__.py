"""`@rewind.llm`, `@rewind.tool`, `@rewind.memory`: record the user's own functions."""

from __future__ import annotations

from .functions import llm, memory, tool

__all__ = ["llm", "memory", "tool"]
