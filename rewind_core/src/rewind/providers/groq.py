"""Groq: the OpenAI chat format under its own SDK."""

from __future__ import annotations

from .table import Host, Provider, Route

__all__ = ["PROVIDER"]

PROVIDER = Provider(
    name="groq",
    package="groq",
    agent=r"(?:Async)?Groq/",
    hosts=(Host(pattern="api.groq.com", label="groq"),),
    routes=(
        Route(ending="/chat/completions", operation="chat", format="openai_chat"),
        Route(ending="/responses", operation="responses", format="openai_responses"),
        Route(ending="/embeddings", operation="embeddings", format="embeddings"),
        Route(ending="/audio/(?:speech|transcriptions|translations)", operation="audio"),
    ),
    stream_ends=(b"data: [DONE]",),
)
