"""Answers in the shape of the two APIs, for tests that drive the real SDKs."""

from __future__ import annotations

import json
from typing import Any

from rewind.testing import Interaction

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"


def chat(text: str = "hello", **more: Any) -> Interaction:
    body = {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
    }  # fmt: skip
    return Interaction.answer(CHAT, body, **more)


def failure(status: int, message: str = "no", **more: Any) -> Interaction:
    return Interaction.answer(CHAT, {"error": {"message": message}}, status=status, **more)


def chat_stream(*texts: str, done: bool = True, **more: Any) -> Interaction:
    chunks = [_event(_delta(text)) for text in texts]
    if done:
        chunks.append(b"data: [DONE]\n\n")
    return stream(CHAT, *chunks, **more)


def stream(path: str, *chunks: bytes, **more: Any) -> Interaction:
    headers = (("content-type", "text/event-stream"),)
    return Interaction(path=path, headers=headers, chunks=chunks, streamed=True, **more)


def message(text: str = "hello", **more: Any) -> Interaction:
    return message_of({"type": "text", "text": text}, **more)


def message_of(block: dict[str, Any], stop: str = "end_turn", **more: Any) -> Interaction:
    body = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
        "content": [block], "stop_reason": stop,
        "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 2},
    }  # fmt: skip
    return Interaction.answer(MESSAGES, body, **more)


def message_stream(*texts: str, **more: Any) -> Interaction:
    start = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [],
        "stop_reason": None, "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]
    for text in texts:
        delta = {"type": "text_delta", "text": text}
        events.append({"type": "content_block_delta", "index": 0, "delta": delta})
    events += [
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 3},
        },
        {"type": "message_stop"},
    ]
    chunks = (f"event: {e['type']}\n".encode() + _event(e) for e in events)
    return stream(MESSAGES, *chunks, **more)


def _delta(text: str) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}],
    }  # fmt: skip


def _event(data: object) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"
