"""The messages API: content blocks, streamed as numbered blocks with typed deltas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .model import Message, Reading, ToolCall, Usage
from .values import as_int, as_list, as_map, as_maps, as_str, as_text, json_text, merged

__all__ = ["NAME", "OPERATIONS", "PATHS", "matches", "read", "read_stream"]

NAME = "anthropic_messages"
OPERATIONS = frozenset({"messages"})
PATHS = ("/v1/messages",)


def matches(response: object) -> bool:
    body = as_map(response)
    return body.get("type") == "message" and "content" in body


def read(request: Mapping[str, object], response: object) -> Reading:
    if isinstance(response, (list, tuple)):
        return read_stream(request, as_maps(as_list(response)))
    body = as_map(response)
    blocks = as_maps(body.get("content"))
    texts = [as_text([block]) for block in blocks if block.get("type") == "text"]
    return Reading(
        format=NAME,
        model=as_str(body.get("model")) or as_str(request.get("model")),
        messages=_messages(request),
        tool_calls=tuple(_call(block) for block in blocks if _is_call(block)),
        usage=_usage(body.get("usage")),
        text="".join(texts) if texts else None,
        finish=as_str(body.get("stop_reason")),
    )


def read_stream(request: Mapping[str, object], events: Sequence[Mapping[str, object]]) -> Reading:
    body: dict[str, object] = {}
    started: Mapping[str, object] = {}
    ended: list[Mapping[str, object]] = []
    blocks: dict[int, dict[str, object]] = {}
    for event in events:
        kind, number = event.get("type"), as_int(event.get("index")) or 0
        if kind == "message_start":
            body = dict(as_map(event.get("message")))
            started = as_map(body.get("usage"))
        elif kind == "content_block_start":
            blocks[number] = dict(as_map(event.get("content_block")))
        elif kind == "content_block_delta":
            _extend(blocks.setdefault(number, {}), as_map(event.get("delta")))
        elif kind == "message_delta":
            body.update(as_map(event.get("delta")))
            ended.append(as_map(event.get("usage")))
    usage = merged([started, *ended])
    if not ended:
        # The first event's output count is a running one; only the last is the bill.
        usage.pop("output_tokens", None)
    content = [blocks[number] for number in sorted(blocks)]
    return read(request, {**body, "content": content, "usage": usage})


def _extend(block: dict[str, object], delta: Mapping[str, object]) -> None:
    if isinstance(text := delta.get("text"), str):
        block.setdefault("type", "text")
        block["text"] = (as_str(block.get("text")) or "") + text
    elif isinstance(piece := delta.get("partial_json"), str):
        written = block.get("input")
        block["input"] = (written if isinstance(written, str) else "") + piece


def _is_call(block: Mapping[str, object]) -> bool:
    return (as_str(block.get("type")) or "").endswith("tool_use")


def _call(block: Mapping[str, object]) -> ToolCall:
    return ToolCall(
        id=as_str(block.get("id")),
        name=as_str(block.get("name")) or "",
        arguments=json_text(block.get("input", "")),
    )


def _messages(request: Mapping[str, object]) -> tuple[Message, ...]:
    messages: list[Message] = []
    if system := as_text(request.get("system")):
        messages.append(Message(role="system", text=system))
    messages += [
        Message(role=as_str(item.get("role")) or "", text=_text(item))
        for item in as_maps(request.get("messages"))
    ]
    return tuple(messages)


def _text(message: Mapping[str, object]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for block in as_maps(content):
        if _is_call(block):
            call = _call(block)
            parts.append(f"{call.name}({call.arguments})")
        elif (as_str(block.get("type")) or "").endswith("tool_result"):
            result = block.get("content")
            parts.append(as_text(result) or json_text(result))
        else:
            parts.append(as_text([block]))
    return "\n".join(part for part in parts if part)


def _usage(value: object) -> Usage | None:
    """Cached parts are counted beside `input_tokens` on this wire; here they are part of it."""
    usage = as_map(value)
    if not usage:
        return None
    fresh = as_int(usage.get("input_tokens"))
    cached = as_int(usage.get("cache_read_input_tokens"))
    written = as_int(usage.get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=None if fresh is None else fresh + (cached or 0) + (written or 0),
        output_tokens=as_int(usage.get("output_tokens")),
        cache_read_tokens=cached,
        cache_write_tokens=written,
    )
