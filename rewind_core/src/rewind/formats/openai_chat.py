"""Chat completions: one answer per choice, streamed as deltas that are merged here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .model import Message, Reading, ToolCall, Usage
from .values import as_int, as_list, as_map, as_maps, as_str, as_text, json_text

__all__ = ["NAME", "OPERATIONS", "PATHS", "matches", "read", "read_stream"]

NAME = "openai_chat"
OPERATIONS = frozenset({"chat", "completions"})
PATHS = ("/chat/completions", "/completions")


def matches(response: object) -> bool:
    return "choices" in as_map(response)


def read(request: Mapping[str, object], response: object) -> Reading:
    if isinstance(response, (list, tuple)):
        return read_stream(request, as_maps(as_list(response)))
    body = as_map(response)
    choices = as_maps(body.get("choices"))
    calls = [call for choice in choices for call in _calls(as_map(choice.get("message")))]
    first = choices[0] if choices else {}
    message = as_map(first.get("message"))
    content = message.get("content", first.get("text"))
    return Reading(
        format=NAME,
        model=as_str(body.get("model")) or as_str(request.get("model")),
        messages=_messages(request),
        tool_calls=tuple(calls),
        usage=_usage(body.get("usage")),
        text=None if content is None else as_text(content),
        finish=as_str(first.get("finish_reason")),
    )


def read_stream(request: Mapping[str, object], events: Sequence[Mapping[str, object]]) -> Reading:
    model = finish = None
    usage: Usage | None = None
    text: list[str] = []
    calls: list[_Fragments] = []
    opened: dict[object, _Fragments] = {}
    for event in events:
        model = as_str(event.get("model")) or model
        usage = _usage(event.get("usage")) or usage
        for choice in as_maps(event.get("choices")):
            number = as_int(choice.get("index")) or 0
            delta = as_map(choice.get("delta"))
            _merge_calls(calls, opened, number, delta)
            if number == 0:
                finish = as_str(choice.get("finish_reason")) or finish
                content = delta.get("content", choice.get("text"))
                if content is not None:
                    text.append(as_text(content))
    return Reading(
        format=NAME,
        model=model or as_str(request.get("model")),
        messages=_messages(request),
        tool_calls=tuple(call.call() for call in calls),
        usage=usage,
        text="".join(text) if text else None,
        finish=finish,
    )


class _Fragments:
    """One streamed tool call while its pieces arrive."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.name = ""
        self.arguments: list[str] = []

    def add(self, piece: Mapping[str, object]) -> None:
        function = as_map(piece.get("function")) or as_map(piece.get("custom"))
        self.id = self.id or as_str(piece.get("id")) or None
        self.name = self.name or as_str(function.get("name")) or ""
        arguments = function.get("arguments", function.get("input"))
        if arguments is not None:
            self.arguments.append(json_text(arguments))

    def call(self) -> ToolCall:
        return ToolCall(id=self.id, name=self.name, arguments="".join(self.arguments))


def _merge_calls(
    calls: list[_Fragments],
    opened: dict[object, _Fragments],
    choice: int,
    delta: Mapping[str, object],
) -> None:
    """Pieces belong together by index; another id on the same index is another call."""
    pieces = as_maps(delta.get("tool_calls"))
    if legacy := as_map(delta.get("function_call")):
        pieces.append({"function": legacy})
    for piece in pieces:
        place, identifier = (choice, as_int(piece.get("index"))), piece.get("id")
        call = opened.get(place)
        if call is None or (identifier and call.id and call.id != identifier):
            call = opened[place] = _Fragments()
            calls.append(call)
        call.add(piece)


def _calls(message: Mapping[str, object]) -> list[ToolCall]:
    pieces = as_maps(message.get("tool_calls"))
    if legacy := as_map(message.get("function_call")):
        pieces.append({"function": legacy})
    calls: list[ToolCall] = []
    for piece in pieces:
        fragments = _Fragments()
        fragments.add(piece)
        calls.append(fragments.call())
    return calls


def _messages(request: Mapping[str, object]) -> tuple[Message, ...]:
    if "messages" not in request and isinstance(prompt := request.get("prompt"), (str, list)):
        return (Message(role="user", text=as_text(prompt)),)
    messages: list[Message] = []
    for item in as_maps(request.get("messages")):
        text = as_text(item.get("content"))
        asked = ", ".join(f"{call.name}({call.arguments})" for call in _calls(item))
        messages.append(
            Message(
                role=as_str(item.get("role")) or "",
                text="\n".join(part for part in (text, asked) if part),
            )
        )
    return tuple(messages)


def _usage(value: object) -> Usage | None:
    usage = as_map(value)
    if not usage:
        return None
    sent, made = as_map(usage.get("prompt_tokens_details")), usage.get("completion_tokens_details")
    return Usage(
        input_tokens=as_int(usage.get("prompt_tokens")),
        output_tokens=as_int(usage.get("completion_tokens")),
        cache_read_tokens=as_int(sent.get("cached_tokens")),
        cache_write_tokens=as_int(sent.get("cache_write_tokens")),
        reasoning_tokens=as_int(as_map(made).get("reasoning_tokens")),
    )
