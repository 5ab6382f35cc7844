"""Google's Gemini API and Vertex AI."""

from __future__ import annotations

from .table import Host, Provider, Route

__all__ = ["PROVIDER"]

PROVIDER = Provider(
    name="gemini",
    package="google.genai",
    dist="google-genai",
    agent=r"google-genai-sdk/",
    hosts=(
        Host(pattern="generativelanguage.googleapis.com", label="google", paths="/v*/models/*"),
        Host(pattern="generativelanguage.googleapis.com", label="google", paths="/v*/files*"),
        Host(
            pattern="*aiplatform.googleapis.com",
            label="google-vertex",
            paths="*/publishers/google/*",
        ),
    ),
    routes=(
        Route(ending=":generateContent", operation="generate_content", format="opaque"),
        Route(
            ending=":streamGenerateContent", operation="generate_content_stream", format="opaque"
        ),
        Route(ending=":(?:embedContent|batchEmbedContents)", operation="embed_content"),
        Route(ending=":countTokens", operation="count_tokens", kind="http"),
    ),
)
