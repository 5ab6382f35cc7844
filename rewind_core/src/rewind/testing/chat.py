"""Answers of a chat completions API, made up for tests: texts, tool calls, streams, refusals."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from .interactions import Interaction

__all__ = ["Turn"]

_PATH = "/v1/chat/completions"
_SSE = (("content-type", "text/event-stream"),)


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What the model says at one turn.

    `calls` are tool calls as `(name, arguments)`; their ids count up from `first_id`. A `status`
    other than 200 is a refusal with `text` as its message.
    """

    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    status: int = 200
    first_id: int = 1
    more: dict[str, Any] = field(default_factory=dict[str, Any])

    def answer(self, *, stream: bool = False) -> Interaction:
        """The turn as a response, whole or streamed in a few chunks."""
        if self.status != 200:
            body = {"error": {"message": self.text, "type": "refused", "code": "refused"}}
            return Interaction.answer(_PATH, body, status=self.status, **self.more)
        if not stream:
            return Interaction.answer(_PATH, self._completion(), **self.more)
        lines = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in self._chunks()]
        chunks = (*lines, b"data: [DONE]\n\n")
        return Interaction(path=_PATH, headers=_SSE, chunks=chunks, streamed=True, **self.more)

    @property
    def _finish(self) -> str:
        return "tool_calls" if self.calls else "stop"

    @property
    def _usage(self) -> dict[str, int]:
        return {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}

    def _tool_calls(self) -> list[dict[str, Any]]:
        return [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for number, (name, arguments) in enumerate(self.calls, self.first_id)
        ]

    def _completion(self) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.calls:
            message["tool_calls"] = self._tool_calls()
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {**_head("chat.completion"), "choices": [choice], "usage": self._usage}

    def _chunks(self) -> list[dict[str, Any]]:
        words = self.text.split(" ")
        parts = [word if last else f"{word} " for word, last in _with_last(words)] if words else []
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
        deltas += [{"content": part} for part in parts if part]
        for index, call in enumerate(self._tool_calls()):
            arguments = call["function"]["arguments"]
            opened = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
            deltas.append({"tool_calls": [opened]})
            for piece in (arguments[:4], arguments[4:]):
                delta = {"index": index, "function": {"arguments": piece}}
                deltas.append({"tool_calls": [delta]})
        chunks = [self._chunk([_choice(delta)]) for delta in deltas]
        chunks.append(self._chunk([_choice({}, self._finish)]))
        chunks.append({**self._chunk([]), "usage": self._usage})
        return chunks

    def _chunk(self, choices: list[dict[str, Any]]) -> dict[str, Any]:
        return {**_head("chat.completion.chunk"), "choices": choices}


def _head(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1700000000, "model": "gpt-4o-mini"}


def _choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish}


def _with_last(words: list[str]) -> list[tuple[str, bool]]:
    return [(word, number == len(words) - 1) for number, word in enumerate(words)]
