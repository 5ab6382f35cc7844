"""What each wire format reads out of bodies and streams."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rewind.formats import (
    ToolCall,
    Usage,
    anthropic_messages,
    embeddings,
    opaque,
    openai_chat,
    openai_responses,
    parse_sse,
    stream_values,
)

CORPUS = os.environ.get("REWIND_CORPUS")


def test_sse_knows_every_line_end_comments_and_joined_data():
    body = b": hi\r\nevent: a\r\ndata: 1\rdata:2\n\nid: 7\ndata: [DONE]\n\ndata: cut"
    events = parse_sse(body)
    assert [(e.event, e.data, e.id) for e in events] == [("a", "1\n2", ""), ("", "[DONE]", "7")]
    assert stream_values(events) == ["1\n2"]


def delta(index: int | None, identifier: str | None, name: str | None, text: str | None):
    piece = {"index": index, "id": identifier, "function": {"name": name, "arguments": text}}
    return {"choices": [{"index": 0, "delta": {"tool_calls": [piece]}}]}


@pytest.mark.parametrize(
    "pieces",
    [
        [(0, "a", "f", "{"), (1, "b", "g", "["), (0, None, None, "}"), (1, None, None, "]")],
        [(0, "a", "f", "{"), (0, "a", None, "}"), (1, "b", "g", "[]")],
        [(0, "a", "f", "{}"), (0, "b", "g", "["), (0, None, None, "]")],
        [(None, "a", "f", "{"), (None, None, None, "}"), (None, "b", "g", "[]")],
    ],
    ids=["interleaved", "id repeated", "one index for all", "no index"],
)
def test_streamed_tool_calls_are_merged_by_index_and_id(pieces):
    found = openai_chat.read({}, [delta(*piece) for piece in pieces])
    assert found.tool_calls == (
        ToolCall(id="a", name="f", arguments="{}"),
        ToolCall(id="b", name="g", arguments="[]"),
    )


def test_a_chat_stream_gives_text_finish_and_its_last_usage():
    events = [
        {"model": "m", "choices": [{"index": 0, "delta": {"content": "He"}}]},
        {"choices": [{"index": 1, "delta": {"content": "other"}}]},
        {"choices": [{"index": 0, "delta": {"content": "y"}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 0}},
    ]
    found = openai_chat.read({"messages": [{"role": "user", "content": "q"}]}, events)
    assert (found.text, found.finish, found.model) == ("Hey", "stop", "m")
    assert found.usage == Usage(input_tokens=3, output_tokens=0)
    assert found.messages[0].text == "q"


def test_a_stream_without_usage_is_unknown_not_zero():
    assert openai_chat.read({}, [{"choices": [], "usage": None}]).usage is None
    started = {
        "type": "message_start",
        "message": {"usage": {"input_tokens": 9, "output_tokens": 1}},
    }
    usage = anthropic_messages.read({}, [started]).usage
    assert usage is not None
    assert not usage.known


def test_anthropic_input_counts_the_cached_parts():
    usage = {
        "input_tokens": 1, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 100,
        "output_tokens": 5,
    }  # fmt: skip
    found = anthropic_messages.read({}, {"type": "message", "content": [], "usage": usage})
    assert found.usage == Usage(
        input_tokens=111, output_tokens=5, cache_read_tokens=10, cache_write_tokens=100
    )


def test_an_anthropic_stream_is_put_together_by_block():
    events = [
        {"type": "message_start", "message": {"model": "c", "usage": {"input_tokens": 4}}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
        {"type": "content_block_start", "index": 1,
         "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}}},
        {"type": "content_block_delta", "index": 1,
         "delta": {"type": "input_json_delta", "partial_json": '{"a"'}},
        {"type": "content_block_delta", "index": 1,
         "delta": {"type": "input_json_delta", "partial_json": ": 1}"}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 7}},
    ]  # fmt: skip
    found = anthropic_messages.read({}, events)
    assert (found.text, found.finish) == ("Hi", "tool_use")
    assert found.tool_calls == (ToolCall(id="t", name="f", arguments='{"a": 1}'),)
    assert found.usage == Usage(input_tokens=4, output_tokens=7)


RESPONSE = {
    "object": "response", "model": "r", "status": "completed",
    "output": [
        {"type": "message", "content": [{"type": "output_text", "text": "Done"}]},
        {"type": "function_call", "call_id": "k", "name": "f", "arguments": "{}"},
    ],
    "usage": {"input_tokens": 2, "output_tokens": 3},
}  # fmt: skip


def test_a_finished_responses_stream_reads_as_its_body():
    events = [{"type": "response.created", "response": {}}, {"type": "response.completed", "response": RESPONSE}]  # fmt: skip
    found = openai_responses.read({"input": "q"}, events)
    assert found == openai_responses.read({"input": "q"}, RESPONSE)
    assert (found.text, found.finish) == ("Done", "completed")
    assert found.tool_calls == (ToolCall(id="k", name="f", arguments="{}"),)


def test_a_responses_stream_left_early_shows_what_had_come():
    item = {"type": "function_call", "call_id": "k", "name": "f", "arguments": ""}
    events = [
        {"type": "response.created", "response": {"model": "r", "usage": None}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "Do"},
        {"type": "response.output_item.added", "output_index": 1, "item": item},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "{"},
    ]
    found = openai_responses.read({}, events)
    assert (found.model, found.text, found.usage) == ("r", "Do", None)
    assert found.tool_calls == (ToolCall(id="k", name="f", arguments="{"),)


def test_embeddings_count_what_was_sent():
    body = {"object": "list", "data": [{"embedding": [0.1]}], "usage": {"prompt_tokens": 4}}
    found = embeddings.read({"input": ["a"], "model": "e"}, body)
    assert found.usage == Usage(input_tokens=4, output_tokens=0)
    assert (found.model, found.text) == ("e", "[1 vector]")


@pytest.mark.parametrize("module", [openai_chat, openai_responses, anthropic_messages, embeddings, opaque])  # fmt: skip
@pytest.mark.parametrize(
    "response",
    [None, "text", 7, [], [None, 1, "x"], {}, {"choices": 1, "content": "x", "output": {}, "data": 5},
     {"choices": [None, {"message": 3}], "usage": [], "content": [7], "output": [[]]}],
    ids=str,
)  # fmt: skip
def test_odd_bodies_read_as_absent(module, response):
    for request in ({}, {"messages": 3, "input": {}, "model": 1}, {"messages": [None, {"content": [1]}]}):  # fmt: skip
        assert module.read(request, response).usage is None


READERS = {
    "chat": openai_chat,
    "responses": openai_responses,
    "messages": anthropic_messages,
    "embeddings": embeddings,
}


def corpus() -> list[Path]:
    """Answered calls of the formats above; routes beside them and other formats are left out."""
    found: list[Path] = []
    for path in sorted(Path(CORPUS or "nowhere").glob("*.json")):
        case = json.loads(path.read_text())
        answered = case["response"]["status"] < 400 and case.get("provider") not in (
            "cohere",
            "mistral",
        )
        if answered and case.get("api") in READERS:
            found.append(path)
    return found


@pytest.mark.corpus
@pytest.mark.skipif(not CORPUS, reason="REWIND_CORPUS is not set")
@pytest.mark.parametrize("path", corpus(), ids=lambda path: path.stem)
def test_real_traffic_reads_with_model_and_answer(path):
    case = json.loads(path.read_text())
    body = case["response"].get("body")
    if "chunks" in case["response"]:
        body = stream_values(parse_sse("".join(case["response"]["chunks"]).encode()))
    found = READERS[case["api"]].read(case["request"]["json"], body)
    assert found.model
    assert found.messages
    assert found.text or found.tool_calls or found.finish
    events = body if isinstance(body, list) else [body]
    assert (found.usage is not None) == any('"usage": {' in json.dumps(event) for event in events)
