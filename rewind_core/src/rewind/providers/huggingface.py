"""Hugging Face inference: the router and the serverless API."""

from __future__ import annotations

from .table import Host, Provider, Route

__all__ = ["PROVIDER"]

PROVIDER = Provider(
    name="huggingface",
    package="huggingface_hub",
    agent=r".*\bhf_hub/",
    hosts=(
        Host(pattern="router.huggingface.co", label="huggingface"),
        Host(pattern="api-inference.huggingface.co", label="huggingface"),
    ),
    routes=(
        Route(ending="/chat/completions", operation="chat", format="openai_chat"),
        Route(ending="/hf-inference/models/.+", operation="inference", format="opaque"),
    ),
    stream_ends=(b"data: [DONE]",),
)
