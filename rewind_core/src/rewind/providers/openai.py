"""OpenAI's API, and the many hosts that speak it."""

from __future__ import annotations

from .table import Host, Provider, Route

__all__ = ["PROVIDER"]

PROVIDER = Provider(
    name="openai",
    package="openai",
    agent=r"(?:Async)?(?:Azure|Bedrock)?OpenAI/",
    hosts=(
        Host(pattern="api.openai.com", label="openai"),
        Host(pattern="*.api.openai.com", label="openai"),
        Host(pattern="*.openai.azure.com", label="azure"),
        Host(pattern="*.cognitiveservices.azure.com", label="azure", paths="/openai/*"),
        Host(pattern="*.services.ai.azure.com", label="azure", paths="/openai/*"),
        Host(pattern="bedrock-mantle.*.api.aws", label="bedrock-mantle", paths="/openai/*"),
        Host(pattern="bedrock-mantle.*.api.aws", label="bedrock-mantle", paths="/v1/*"),
        Host(pattern="bedrock-runtime.*.amazonaws.com", label="bedrock", paths="/openai/*"),
        Host(pattern="generativelanguage.googleapis.com", label="google", paths="/v1beta/openai/*"),
        Host(pattern="api.deepseek.com", label="deepseek"),
        Host(pattern="openrouter.ai", label="openrouter", paths="/api/*"),
        Host(pattern="api.cerebras.ai", label="cerebras"),
        Host(pattern="ollama.com", label="ollama", paths="/v1/*"),
        Host(pattern="api.z.ai", label="z.ai"),
        Host(pattern="*.snowflakecomputing.com", label="snowflake", paths="/api/v2/cortex/*"),
        Host(pattern="*.inference.crusoecloud.com", label="crusoe"),
        Host(pattern="api.inference.crusoecloud.com", label="crusoe"),
        Host(pattern="api.x.ai", label="xai"),
        Host(pattern="api.moonshot.ai", label="moonshot"),
        Host(pattern="api.perplexity.ai", label="perplexity"),
        Host(pattern="api.sambanova.ai", label="sambanova"),
        Host(pattern="models.github.ai", label="github"),
        Host(pattern="ai-gateway.vercel.sh", label="vercel", paths="/v1/*"),
        Host(pattern="dashscope*.aliyuncs.com", label="alibaba", paths="/compatible-mode/*"),
    ),
    routes=(
        Route(ending="/chat/completions", operation="chat", format="openai_chat", telling=True),
        Route(ending="/responses", operation="responses", format="openai_responses", telling=True),
        Route(ending="/responses/compact", operation="responses.compact", format="opaque"),
        Route(ending="/embeddings", operation="embeddings", format="embeddings", telling=True),
        Route(ending="/completions", operation="completions", format="opaque"),
        Route(ending="/images/(?:generations|edits|variations)", operation="images"),
        Route(ending="/audio/(?:speech|transcriptions|translations)", operation="audio"),
    ),
    semantic=("openai-beta",),
    volatile=frozenset({"prompt_cache_key"}),
    stream_ends=(
        b"data: [DONE]",
        b"event: response.completed",
        b"event: response.incomplete",
        b"event: response.failed",
    ),
)
