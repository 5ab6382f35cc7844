"""Fireworks AI: the OpenAI chat format under its own SDK."""

from __future__ import annotations

from .table import Host, Provider, Route

__all__ = ["PROVIDER"]

PROVIDER = Provider(
    name="fireworks",
    package="fireworks",
    dist="fireworks-ai",
    agent=r"(?:Async)?Fireworks/",
    hosts=(Host(pattern="api.fireworks.ai", label="fireworks"),),
    routes=(
        Route(ending="/chat/completions", operation="chat", format="openai_chat"),
        Route(ending="/completions", operation="completions", format="opaque"),
        Route(ending="/embeddings", operation="embeddings", format="embeddings"),
        Route(ending="/rerank", operation="rerank", format="opaque"),
    ),
    stream_ends=(b"data: [DONE]",),
)
