"""The responses API: a list of output items; a stream ends with the whole response in one event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .model import Message, Reading, ToolCall, Usage
from .values import as_int, as_list, as_map, as_maps, as_str, as_text, json_text

__all__ = ["NAME", "OPERATIONS", "PATHS", "matches", "read", "read_stream"]

NAME = "openai_responses"
OPERATIONS = frozenset({"responses"})
PATHS = ("/responses",)

_FINAL = ("response.completed", "response.incomplete", "response.failed")


def matches(response: object) -> bool:
    return as_map(response).get("object") == "response"


def read(request: Mapping[str, object], response: object) -> Reading:
    if isinstance(response, (list, tuple)):
        return read_stream(request, as_maps(as_list(response)))
    body = as_map(response)
    items = as_maps(body.get("output"))
    texts = [as_text(item.get("content")) for item in items if item.get("type") == "message"]
    reason = as_str(as_map(body.get("incomplete_details")).get("reason"))
    return Reading(
        format=NAME,
        model=as_str(body.get("model")) or as_str(request.get("model")),
        messages=_messages(request),
        tool_calls=tuple(call for item in items if (call := _call(item)) is not None),
        usage=_usage(body.get("usage")),
        text="\n".join(texts) if texts else None,
        finish=reason or as_str(body.get("status")),
    )


def read_stream(request: Mapping[str, object], events: Sequence[Mapping[str, object]]) -> Reading:
    for event in reversed(events):
        if event.get("type") in _FINAL:
            return read(request, as_map(event.get("response")))
    return read(request, _partial(events))


def _partial(events: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """The response as far as a stream left early had brought it; its usage is unknown."""
    body: dict[str, object] = {}
    items: dict[int, dict[str, object]] = {}
    texts: dict[int, list[str]] = {}
    arguments: dict[int, list[str]] = {}
    for event in events:
        kind, number = event.get("type"), as_int(event.get("output_index")) or 0
        if kind == "response.created":
            body = {**as_map(event.get("response")), "usage": None}
        elif kind in ("response.output_item.added", "response.output_item.done"):
            items[number] = dict(as_map(event.get("item")))
            if kind.endswith("done"):
                texts.pop(number, None)
                arguments.pop(number, None)
        elif kind == "response.output_text.delta":
            texts.setdefault(number, []).append(as_text(event.get("delta")))
        elif kind in (
            "response.function_call_arguments.delta",
            "response.custom_tool_call_input.delta",
        ):
            arguments.setdefault(number, []).append(as_text(event.get("delta")))
    for number, pieces in texts.items():
        items.setdefault(number, {"type": "message"})["content"] = "".join(pieces)
    for number, pieces in arguments.items():
        item = items.setdefault(number, {"type": "function_call"})
        item["input" if item.get("type") == "custom_tool_call" else "arguments"] = "".join(pieces)
    return {**body, "output": [items[number] for number in sorted(items)], "status": "in_progress"}


def _call(item: Mapping[str, object]) -> ToolCall | None:
    kind = as_str(item.get("type")) or ""
    if not kind.endswith("_call"):
        return None
    written = item.get("arguments", item.get("input", item.get("action", "")))
    return ToolCall(
        id=as_str(item.get("call_id")) or as_str(item.get("id")),
        name=as_str(item.get("name")) or kind.removesuffix("_call"),
        arguments=json_text(written) if written is not None else "",
    )


def _messages(request: Mapping[str, object]) -> tuple[Message, ...]:
    messages: list[Message] = []
    if instructions := as_text(request.get("instructions")):
        messages.append(Message(role="system", text=instructions))
    sent = request.get("input")
    if isinstance(sent, str):
        return (*messages, Message(role="user", text=sent))
    for item in as_maps(sent):
        kind = as_str(item.get("type")) or "message"
        call = _call(item)
        if call is not None:
            messages.append(Message(role="assistant", text=f"{call.name}({call.arguments})"))
        elif kind.endswith("_call_output"):
            output = item.get("output")
            text = output if isinstance(output, str) else as_text(output) or json_text(output)
            messages.append(Message(role="tool", text=text))
        elif kind == "message":
            role = as_str(item.get("role")) or ""
            messages.append(Message(role=role, text=as_text(item.get("content"))))
        else:
            messages.append(Message(role=as_str(item.get("role")) or "", text=f"[{kind}]"))
    return tuple(messages)


def _usage(value: object) -> Usage | None:
    usage = as_map(value)
    if not usage:
        return None
    sent, made = as_map(usage.get("input_tokens_details")), usage.get("output_tokens_details")
    return Usage(
        input_tokens=as_int(usage.get("input_tokens")),
        output_tokens=as_int(usage.get("output_tokens")),
        cache_read_tokens=as_int(sent.get("cached_tokens")),
        cache_write_tokens=as_int(sent.get("cache_write_tokens")),
        reasoning_tokens=as_int(as_map(made).get("reasoning_tokens")),
    )
