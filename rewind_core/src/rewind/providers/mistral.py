"""Mistral: close to the OpenAI chat format, with its own SDK."""

from __future__ import annotations

from .table import Host, Provider, Route

__all__ = ["PROVIDER"]

PROVIDER = Provider(
    name="mistral",
    package="mistralai",
    agent=r"(?:mistral-client-python/|.*\bmistralai\b)",
    hosts=(
        Host(pattern="api.mistral.ai", label="mistral"),
        Host(pattern="codestral.mistral.ai", label="mistral"),
    ),
    routes=(
        Route(ending="/chat/completions", operation="chat", format="openai_chat"),
        Route(ending="/fim/completions", operation="fim", format="openai_chat"),
        Route(ending="/agents/completions", operation="agents", format="openai_chat"),
        Route(ending="/embeddings", operation="embeddings", format="embeddings"),
    ),
    stream_ends=(b"data: [DONE]",),
)
