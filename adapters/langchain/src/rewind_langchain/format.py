"""The meaning of recorded model calls of this framework, for shows, sums and diffs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rewind.formats import Message, Reading, ToolCall, Usage
from rewind.formats.values import as_int, as_list, as_map, as_maps, as_str, as_text, json_text

__all__ = ["NAME", "OPERATIONS", "PATHS", "matches", "read", "read_stream"]

NAME = "langchain"
OPERATIONS = frozenset[str]()
PATHS: tuple[str, ...] = ()
_ROLES = {"human": "user", "ai": "assistant", "AIMessageChunk": "assistant"}


def matches(response: object) -> bool:
    return "generations" in as_map(response)


def read(request: Mapping[str, object], response: object) -> Reading:
    if isinstance(response, (list, tuple)):
        return read_stream(request, as_maps(as_list(response)))
    rows = as_list(as_map(response).get("generations"))
    flat = [one for row in rows for one in (as_list(row) or [row])]
    return _reading(request, as_maps(flat)[:1])


def read_stream(request: Mapping[str, object], events: Sequence[Mapping[str, object]]) -> Reading:
    return _reading(request, events)


def _reading(request: Mapping[str, object], generations: Sequence[Mapping[str, object]]) -> Reading:
    messages = [as_map(one.get("message")) for one in generations]
    texts = [as_text(one.get("content", "")) for one in messages] or [
        as_text(one.get("text")) for one in generations
    ]
    usages = [usage for one in messages if (usage := as_map(one.get("usage_metadata")))]
    meta = [as_map(one.get("response_metadata")) for one in messages]
    finish = [as_str(one.get("finish_reason") or one.get("stop_reason")) for one in meta]
    models = [as_str(one.get("model_name") or one.get("model")) for one in meta]
    return Reading(
        format=NAME,
        model=next((one for one in models if one), None) or as_str(request.get("model")),
        messages=_messages(request),
        tool_calls=tuple(_tool_calls(messages)),
        usage=_usage(usages),
        text="".join(texts) if generations else None,
        finish=next((one for one in reversed(finish) if one), None),
    )


def _messages(request: Mapping[str, object]) -> tuple[Message, ...]:
    found = [
        Message(role="user", text=as_text(prompt)) for prompt in as_list(request.get("prompts"))
    ]
    for item in as_maps(request.get("messages")):
        kind = as_str(item.get("type")) or ""
        asked = ", ".join(f"{one.name}({one.arguments})" for one in _tool_calls([item]))
        text = "\n".join(part for part in (as_text(item.get("content")), asked) if part)
        found.append(Message(role=_ROLES.get(kind, kind), text=text))
    return tuple(found)


def _tool_calls(messages: Sequence[Mapping[str, Any]]) -> list[ToolCall]:
    """Whole calls, or the fragments of a stream merged by index."""
    fragments = [one for m in messages for one in as_maps(m.get("tool_call_chunks"))]
    if not fragments:
        whole = [one for m in messages for one in as_maps(m.get("tool_calls"))]
        return [_tool_call(one, json_text(one.get("args"))) for one in whole]
    merged: dict[object, dict[str, Any]] = {}
    for number, one in enumerate(fragments):
        index = one.get("index")
        call = merged.setdefault(index if index is not None else f"#{number}", {"args": ""})
        call["id"] = call.get("id") or one.get("id")
        call["name"] = call.get("name") or one.get("name")
        call["args"] += as_str(one.get("args")) or ""
    return [_tool_call(one, one["args"]) for one in merged.values()]


def _tool_call(call: Mapping[str, Any], arguments: str) -> ToolCall:
    return ToolCall(
        id=as_str(call.get("id")), name=as_str(call.get("name")) or "", arguments=arguments
    )


def _usage(usages: Sequence[Mapping[str, object]]) -> Usage | None:
    """The sum over the chunks of a stream: providers report parts in several of them."""
    if not usages:
        return None

    def total(name: str, detail: str = "") -> int | None:
        values = [as_int((as_map(one.get(detail)) if detail else one).get(name)) for one in usages]
        known = [value for value in values if value is not None]
        return sum(known) if known else None

    return Usage(
        input_tokens=total("input_tokens"),
        output_tokens=total("output_tokens"),
        cache_read_tokens=total("cache_read", "input_token_details"),
        cache_write_tokens=total("cache_creation", "input_token_details"),
        reasoning_tokens=total("reasoning", "output_token_details"),
    )
