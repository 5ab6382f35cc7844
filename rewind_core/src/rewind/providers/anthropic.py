"""Anthropic's API: its own hosts, and its models on Bedrock and Vertex."""

from __future__ import annotations

from .table import Host, Provider, Route

__all__ = ["PROVIDER"]

_INVOKE = "/model/[^/]+/invoke(?:-with-response-stream)?"
_PREDICT = "/models/[^/]+:(?:rawPredict|streamRawPredict)"

PROVIDER = Provider(
    name="anthropic",
    package="anthropic",
    agent=r"(?:Async)?Anthropic(?:Bedrock|Vertex|Foundry|AWS|Aws)?\w*/",
    hosts=(
        Host(pattern="api.anthropic.com", label="anthropic"),
        Host(pattern="*.anthropic.com", label="anthropic", paths="/v1/*"),
        Host(pattern="*.services.ai.azure.com", label="azure", paths="/anthropic/*"),
        Host(
            pattern="aiplatform.googleapis.com",
            label="google-vertex",
            paths="*/publishers/anthropic/*",
        ),
        Host(
            pattern="*-aiplatform.googleapis.com",
            label="google-vertex",
            paths="*/publishers/anthropic/*",
        ),
        Host(
            pattern="bedrock-runtime.*.amazonaws.com", label="bedrock", paths="/model/*anthropic*"
        ),
        Host(pattern="bedrock-mantle.*.api.aws", label="bedrock-mantle", paths="/anthropic/*"),
    ),
    routes=(
        Route(ending="/messages", operation="messages", format="anthropic_messages", telling=True),
        Route(ending="/messages/count_tokens", operation="count_tokens", kind="http"),
        Route(ending="/complete", operation="completions", format="opaque"),
        Route(ending=_INVOKE, operation="messages", format="anthropic_messages"),
        Route(ending=_PREDICT, operation="messages", format="anthropic_messages"),
    ),
    marks=("anthropic-version",),
    semantic=("anthropic-beta", "anthropic-version"),
    stream_ends=(b"event: message_stop",),
)
