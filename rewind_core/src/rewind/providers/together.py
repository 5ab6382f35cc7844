"""Together AI: the OpenAI chat format under its own SDK."""

from __future__ import annotations

from .table import Host, Provider, Route

__all__ = ["PROVIDER"]

PROVIDER = Provider(
    name="together",
    package="together",
    agent=r"(?:Async)?Together/",
    hosts=(
        Host(pattern="api.together.xyz", label="together"),
        Host(pattern="api.together.ai", label="together"),
    ),
    routes=(
        Route(ending="/chat/completions", operation="chat", format="openai_chat"),
        Route(ending="/completions", operation="completions", format="opaque"),
        Route(ending="/embeddings", operation="embeddings", format="embeddings"),
        Route(ending="/rerank", operation="rerank", format="opaque"),
        Route(ending="/images/generations", operation="images", format="opaque"),
    ),
    stream_ends=(b"data: [DONE]",),
)
