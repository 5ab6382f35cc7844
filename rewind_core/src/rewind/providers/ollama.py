"""Ollama's own API; the path it shares with OpenAI is in that table."""

from __future__ import annotations

from .table import Host, Provider, Route

__all__ = ["PROVIDER"]

PROVIDER = Provider(
    name="ollama",
    package="ollama",
    agent=r"ollama-python/",
    hosts=(Host(pattern="ollama.com", label="ollama", paths="/api/*"),),
    routes=(
        Route(ending="/api/chat", operation="chat", format="opaque"),
        Route(ending="/api/generate", operation="generate", format="opaque"),
        Route(ending="/api/embed(?:dings)?", operation="embed", format="opaque"),
    ),
    stream_ends=(b'"done":true',),
)
