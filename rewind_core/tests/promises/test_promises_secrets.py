"""A key, of whatever shape and wherever it is written, never reaches the disk or the screen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from typer.testing import CliRunner

import rewind
from rewind.cli.app import app
from rewind.testing import Interaction, Split, StandIn

KNOWN = "sk-proj-" + "abcdefghij0123456789" * 2
ODD = "kd93.Ab0xLmWv4Rt+7/q"
KEYS = pytest.mark.parametrize("key", [KNOWN, ODD], ids=["known shape", "no known shape"])
CHAT = "/v1/chat/completions"


@pytest.fixture(autouse=True)
def patched() -> Iterator[None]:
    with rewind.integrations.patched("openai", "anthropic"):
        yield


def chat(text: str) -> dict[str, Any]:
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        ],
    }  # fmt: skip


def events(*texts: str) -> Interaction:
    lines = [
        json.dumps(
            {
                "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}],
            }
        )
        for text in texts
    ]  # fmt: skip
    chunks = tuple(f"data: {line}\n\n".encode() for line in (*lines, "[DONE]"))
    headers = (("content-type", "text/event-stream"),)
    return Interaction(path=CHAT, headers=headers, chunks=chunks, streamed=True)


def ask(client: openai.OpenAI, text: str, **more: Any) -> Any:
    messages: Any = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="m", messages=messages, **more)


def no_trace_of(key: str, path: Path) -> None:
    """Neither in the file nor in what any command prints of it."""
    spellings = {key, json.dumps(key)[1:-1], key.replace("/", "\\/"), key.replace("/", "%2F")}
    spellings |= {key.replace("/", "%2F").replace("+", "%2B")}
    shown = [path.read_text(encoding="utf-8")]
    for words in (["show", "-v"], ["cat"], ["stats"], ["diff", str(path)]):
        result = CliRunner().invoke(app, [words[0], *words[1:], str(path)])
        if result.exit_code == 2:  # no such option
            result = CliRunner().invoke(app, [words[0], str(path)])
        assert result.exit_code == 0, result.output
        shown.append(result.output)
    for text in shown:
        assert not [spelling for spelling in spellings if spelling in text]
    assert oct(path.stat().st_mode & 0o777) == "0o600"


@KEYS
def test_a_key_in_headers_url_body_and_errors(tmp_path: Path, key: str) -> None:
    answers = [
        Interaction.answer(CHAT, chat(f"your key {key}")),
        Interaction.answer(CHAT, chat("x")),
        Interaction.answer(CHAT, chat("x")),
        Interaction.answer(CHAT, {"error": {"message": f"bad key: {key}"}}, status=401),
        Interaction.answer(CHAT, {"error": {"message": f"slow down, {key}"}}, status=429),
    ]

    def agent(url: str, key: str) -> list[str]:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)
        headers = {"Authorization": f"Bearer {key}", "x-api-key": key, "X-Gateway-Pass": key}
        ask(client, f"a {key} b", extra_headers=headers)
        ask(client, "url", extra_query={"api_key": key, "key": key, "q": f"about {key}"})
        ask(client, "body", extra_body={"api_key": key, "nested": {"password": key}, "x": [key]})
        raised = []
        for kind in (openai.AuthenticationError, openai.RateLimitError):
            with pytest.raises(kind) as caught:
                ask(client, "fail")
            raised.append(type(caught.value).__name__)
        return raised

    path = tmp_path / "run.rewind"
    with StandIn(answers) as server:
        with rewind.record(path, meta={"argv": ["--key", key]} if key == KNOWN else {}):
            live = agent(server.url, key)
    no_trace_of(key, path)
    with rewind.replay(path, require_full_consumption=True):
        assert agent(server.url, key[::-1] + "Zz9") == live
    with rewind.replay(path), pytest.raises(rewind.DivergenceError) as caught:
        ask(openai.OpenAI(base_url=f"{server.url}/v1", api_key=key), f"changed {key}")
    assert key not in str(caught.value)


@KEYS
@pytest.mark.parametrize("split", list(Split))
@pytest.mark.parametrize("early", [False, True], ids=["to the end", "left early"])
def test_a_key_in_a_stream(tmp_path: Path, key: str, split: Split, early: bool) -> None:
    def agent(url: str) -> list[Any]:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key=key)
        deltas = []
        with ask(client, "hi", stream=True) as stream:
            for chunk in stream:
                deltas.append(chunk.choices[0].delta.content)
                if early and len(deltas) == 2:
                    break
        return deltas

    path = tmp_path / "run.rewind"
    with StandIn(events("one", f"the key is {key}!", "two"), split=split) as server:
        with rewind.record(path):
            live = agent(server.url)
    no_trace_of(key, path)
    with rewind.replay(path):
        assert agent(server.url) == [text.replace(key, "<secret>") for text in live]


@KEYS
def test_a_key_that_the_tools_of_an_agent_handle(tmp_path: Path, key: str) -> None:
    @rewind.tool
    def connect(url: str, options: dict[str, Any]) -> Any:
        if options.get("fail"):
            raise ValueError(f"{key} was refused")
        return {"url": url, "got": [key]}

    def agent(key: str) -> None:
        client = anthropic.Anthropic(base_url=server.url, api_key=key, max_retries=0)
        with pytest.raises(anthropic.AuthenticationError):
            client.messages.create(model="m", max_tokens=1, messages=[])
        connect(f"https://h/{key}", {"k": f"Bearer {key}"})
        with pytest.raises(ValueError, match="was refused"):
            connect("https://h", {"fail": True})

    path = tmp_path / "run.rewind"
    with StandIn(Interaction.answer("/v1/messages", {"error": {}}, status=401)) as server:
        with rewind.record(path):
            agent(key)
    no_trace_of(key, path)
    with rewind.replay(path, require_full_consumption=True):
        agent(key[::-1] + "Zz9")


def test_what_the_environment_holds_is_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DB_PASSWORD", "correct-horse-1")

    @rewind.memory
    def settings() -> str:
        return "connect with correct-horse-1"

    path = tmp_path / "run.rewind"
    with rewind.record(path, meta={"note": "correct-horse-1"}):
        assert settings() == "connect with correct-horse-1"
    no_trace_of("correct-horse-1", path)


@pytest.mark.parametrize("word", ["EMPTY", "ollama", "sk-no-key-required", "lm-studio"])
def test_a_word_in_place_of_a_key_stays_in_the_text(tmp_path: Path, word: str) -> None:
    def agent(url: str) -> str:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key=word)
        return ask(client, f"what is {word}?").choices[0].message.content

    path = tmp_path / "run.rewind"
    with StandIn(Interaction.answer(CHAT, chat(f"{word} is a word"))) as server:
        with rewind.record(path):
            agent(server.url)
    with rewind.replay(path):
        assert agent(server.url) == f"{word} is a word"


@pytest.mark.parametrize("split", list(Split))
def test_redact_sees_whole_events_of_a_stream(tmp_path: Path, split: Split) -> None:
    def hide(value: Any) -> Any:
        return json.loads(json.dumps(value).replace("private", "hidden"))

    def agent(url: str) -> list[Any]:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key=ODD)
        return [c.choices[0].delta.content for c in ask(client, "private", stream=True)]

    path = tmp_path / "run.rewind"
    with StandIn(events("a private", " thing"), split=split) as server:
        with rewind.record(path, redact=hide):
            assert agent(server.url) == ["a private", " thing"]
    assert "private" not in path.read_text(encoding="utf-8")
    with rewind.replay(path):
        assert agent(server.url) == ["a hidden", " thing"]
