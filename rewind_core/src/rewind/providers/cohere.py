"""Cohere: its own format, in two versions of the API."""

from __future__ import annotations

from .table import Host, Provider, Route

__all__ = ["PROVIDER"]

PROVIDER = Provider(
    name="cohere",
    package="cohere",
    agent=r"cohere/",
    hosts=(
        Host(pattern="api.cohere.com", label="cohere"),
        Host(pattern="api.cohere.ai", label="cohere"),
    ),
    routes=(
        Route(ending="/v[12]/chat", operation="chat", format="opaque"),
        Route(ending="/v[12]/embed", operation="embed", format="opaque"),
        Route(ending="/v[12]/rerank", operation="rerank", format="opaque"),
    ),
    stream_ends=(b"event: message-end", b'"type":"message-end"'),
)
