"""A trace grows with what is new, not with what an agent sends again."""

from __future__ import annotations

import json
import random
import string
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

import rewind
from rewind.testing import Interaction, StandIn

TURNS = 1000

# The names and lengths of what the real service sends; the last ones change with every response.
STEADY = {
    "content-type": "application/json",
    "connection": "keep-alive",
    "access-control-expose-headers": "X-Request-ID",
    "openai-organization": "user-abcdefghijklmnopqrstuvwx",
    "openai-project": "proj_ABCDEFGHIJKLMNOPQRSTUVWX",
    "openai-version": "2020-10-01",
    "strict-transport-security": "max-age=31536000; includeSubDomains; preload",
    "x-ratelimit-limit-requests": "10000",
    "x-ratelimit-limit-tokens": "30000000",
    "x-content-type-options": "nosniff",
    "server": "cloudflare",
    "cf-cache-status": "DYNAMIC",
    "alt-svc": 'h3=":443"; ma=86400',
}
CHANGING = {
    "x-request-id": "req_{:032x}",
    "openai-processing-ms": "1{:03}",
    "x-envoy-upstream-service-time": "1{:03}",
    "x-ratelimit-remaining-tokens": "29{:06}",
    "cf-ray": "{:016x}-FRA",
}


@pytest.fixture(autouse=True)
def patched() -> Iterator[None]:
    with rewind.integrations.patched("openai"):
        yield


def text(rng: random.Random, length: int) -> str:
    return "".join(rng.choices(string.ascii_lowercase + "     .,", k=length))


def answer(turn: int, content: str) -> Interaction:
    message = {"role": "assistant", "content": content, "refusal": None, "annotations": []}
    body = {
        "id": f"chatcmpl-{turn:029}",
        "object": "chat.completion",
        "created": 1790000000 + turn,
        "model": "gpt-4o-2024-08-06",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 12, "total_tokens": 21},
    }
    changing = {name: value.format(turn) for name, value in CHANGING.items()}
    return Interaction(
        path="/v1/chat/completions",
        headers=tuple({**STEADY, **changing}.items()),
        chunks=(json.dumps(body, separators=(",", ":")).encode(),),
    )


def test_a_growing_history_over_http_costs_what_is_new(tmp_path: Path) -> None:
    rng = random.Random(7)
    asked = [text(rng, 2000) for _ in range(TURNS)]
    answers = [answer(turn, text(rng, 300)) for turn in range(TURNS)]
    unique = sum(map(len, asked)) + sum(len(one.chunks[0]) for one in answers)
    path = tmp_path / "run.rewind"
    with StandIn(answers) as provider:
        client = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="k")
        with rewind.record(path):
            said = converse(client, asked)
    assert path.stat().st_size <= 1.3 * unique
    with rewind.replay(path):
        assert converse(client, asked) == said


def converse(client: openai.OpenAI, asked: list[str]) -> list[str | None]:
    """Talks through the client's own `post`: `create` takes minutes to check a long history."""
    history: list[dict[str, str | None]] = []
    said: list[str | None] = []
    for question in asked:
        history.append({"role": "user", "content": question})
        response = client.post(
            "/chat/completions",
            body={"model": "gpt-4o", "messages": history},
            cast_to=openai.types.chat.ChatCompletion,
        )
        content = response.choices[0].message.content
        history.append({"role": "assistant", "content": content})
        said.append(f"{response._request_id} {content}")
    return said
