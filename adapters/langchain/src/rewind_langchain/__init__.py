"""rewind for LangChain: one handler records, replays and forks its runs."""

from __future__ import annotations

from .embeddings import RewindEmbeddings
from .handler import RewindCallbackHandler, tracing

__all__ = ["RewindCallbackHandler", "RewindEmbeddings", "tracing"]
