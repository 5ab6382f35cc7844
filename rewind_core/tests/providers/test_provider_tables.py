"""Every table recognises its own traffic, and only that."""

from __future__ import annotations

import pytest

from rewind.providers import PROVIDERS, UPLOADS, is_telemetry, provider_of
from rewind.wire import Exchange

OPENAI_SDK = [("User-Agent", "OpenAI/Python 3.57.0"), ("x-stainless-lang", "python")]
OTHER_SDK = [("User-Agent", "agent-framework/1"), ("x-stainless-lang", "python")]
CLAUDE = [("anthropic-version", "2023-06-01")]


def look(url, headers=(), method="POST"):
    exchange = Exchange.read(method, url, list(headers))
    provider = provider_of(exchange)
    if provider is None:
        return None
    operation = provider.operation(exchange)
    return operation.name, operation.kind, operation.upstream


@pytest.mark.parametrize(
    ("url", "label"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai"),
        ("https://r.openai.azure.com/openai/deployments/x/chat/completions?api-version=1", "azure"),
        ("https://api.deepseek.com/chat/completions", "deepseek"),
        ("https://openrouter.ai/api/v1/chat/completions", "openrouter"),
        ("https://api.cerebras.ai/v1/chat/completions", "cerebras"),
        ("https://ollama.com/v1/chat/completions", "ollama"),
        ("https://api.z.ai/api/paas/v4/chat/completions", "z.ai"),
        ("https://o-a.snowflakecomputing.com/api/v2/cortex/v1/chat/completions", "snowflake"),
        ("https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", "google"),
        ("https://bedrock-mantle.us-east-1.api.aws/openai/v1/chat/completions", "bedrock-mantle"),
        ("https://api.inference.crusoecloud.com/v1/chat/completions", "crusoe"),
    ],
)
def test_hosts_that_speak_openai(url, label):
    assert look(url) == ("openai.chat", "llm", label)


@pytest.mark.parametrize(
    ("path", "name", "kind"),
    [
        ("/v1/responses", "openai.responses", "llm"),
        ("/v1/embeddings", "openai.embeddings", "llm"),
        ("/v1/completions", "openai.completions", "llm"),
        ("/v1/audio/speech", "openai.audio", "llm"),
        ("/v1/moderations", "openai.moderations", "http"),
        ("/v1/responses/input_tokens", "openai.responses", "http"),
        ("/v1/vector_stores/vs_1/files", "openai.vector_stores", "http"),
        ("/", "openai.root", "http"),
    ],
)
def test_routes(path, name, kind):
    assert look(f"http://localhost:9/{path.lstrip('/')}", OPENAI_SDK) == (name, kind, None)


def test_another_method_on_a_route_is_no_inference():
    url = "https://api.openai.com/v1/chat/completions"
    assert look(url, method="GET") == ("openai.chat", "http", "openai")


def test_a_manner_of_calling_is_enough_on_unknown_hosts():
    assert look("http://vllm:8000/v1/chat/completions") == ("openai.chat", "llm", None)
    assert look("http://vllm:8000/v1/audio/speech", OTHER_SDK)[0] == "openai.audio"
    assert look("http://vllm:8000/v1/audio/speech") is None
    assert look("http://proxy/v1/messages", CLAUDE)[0] == "anthropic.messages"
    assert look("http://shop/v1/messages") is None


@pytest.mark.parametrize(
    "agent",
    ["Anthropic/Python 2.14.0", "AsyncAnthropic/Python 2", "AnthropicBedrock/Python 2"],
)
def test_the_sdk_signs_its_calls(agent):
    assert look("http://x/y", [("user-agent", agent)]) == ("anthropic.y", "http", None)


def test_models_behind_clouds():
    bedrock = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude/invoke"
    assert look(bedrock) == ("anthropic.messages", "llm", "bedrock")


@pytest.mark.parametrize(
    ("agent", "url", "name"),
    [
        ("Groq/Python 1.0", "https://api.groq.com/openai/v1/chat/completions", "groq.chat"),
        ("AsyncTogether/Python 2", "http://x/v1/chat/completions", "together.chat"),
        ("Fireworks/Python 1", "http://x/inference/v1/chat/completions", "fireworks.chat"),
        ("cohere/5.20", "http://x/v2/rerank", "cohere.rerank"),
        ("mistral-client-python/1.9", "http://x/v1/fim/completions", "mistral.fim"),
        ("google-genai-sdk/1.5 gl-python/3.12", "http://x/m/g:countTokens", "gemini.count_tokens"),
        ("ollama-python/0.6", "http://localhost:11434/api/chat", "ollama.chat"),
        ("x/1; hf_hub/2.4.0; python/3.12", "http://x/v1/chat/completions", "huggingface.chat"),
    ],
)
def test_sdks_that_share_a_format_keep_their_own_names(agent, url, name):
    assert look(url, [("User-Agent", agent)])[0] == name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1beta/models/gemini-2:generateContent", "gemini.generate_content"),
        ("/v1beta/openai/chat/completions", "openai.chat"),
    ],
)
def test_apis_that_share_a_host(path, name):
    assert look(f"https://generativelanguage.googleapis.com{path}")[0] == name


@pytest.mark.parametrize("publisher", ["anthropic", "google"])
def test_publishers_that_share_a_host(publisher):
    url = f"https://us-aiplatform.googleapis.com/v1/p/x/publishers/{publisher}/models/m:rawPredict"
    assert look(url)[2] == "google-vertex"


def test_unknown_traffic_belongs_to_nobody():
    assert look("https://weather.example.com/v1/today", method="GET") is None


def test_names_are_unique_and_match_their_key():
    assert all(name == provider.name for name, provider in PROVIDERS.items())


def upload(url, method="POST", agent=""):
    return is_telemetry(Exchange.read(method, url, [("User-Agent", agent)]))


def test_reads_from_telemetry_hosts_are_ordinary():
    assert not upload("https://api.smith.langchain.com/runs/batch", "GET")
    assert not upload("https://api.smith.langchain.com/commits/p/latest", "GET")
    assert not upload("https://cloud.langfuse.com/api/public/v2/prompts/x", "GET")
    assert not upload("https://us.i.posthog.com/decide/")


def test_paths_that_could_be_an_applications_own_need_the_host_or_the_client():
    assert not upload("https://graphs.example.com/runs")
    assert upload("http://localhost:1984/api/v1/runs/batch", agent="langsmith-py/0.15.1")
    assert not upload("https://shop.example.com/capture")


def test_no_upload_is_a_read():
    assert not any("GET" in entry.methods for entry in UPLOADS)
