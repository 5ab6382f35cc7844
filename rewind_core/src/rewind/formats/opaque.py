"""Everything whose format nobody described: what can be shown without understanding it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .model import Message, Reading
from .values import as_map, as_maps, as_str, as_text, json_text

__all__ = ["NAME", "OPERATIONS", "PATHS", "matches", "read", "read_stream"]

NAME = "opaque"
OPERATIONS: frozenset[str] = frozenset()
PATHS: tuple[str, ...] = ()


def matches(response: object) -> bool:  # noqa: ARG001  the last format takes whatever is left
    return True


def read(request: Mapping[str, object], response: object) -> Reading:
    messages = tuple(
        Message(role=as_str(item.get("role")) or "", text=as_text(item.get("content")))
        for item in as_maps(request.get("messages"))
    )
    model = as_str(request.get("model")) or as_str(as_map(response).get("model"))
    text = None if response is None else json_text(response)
    return Reading(format=NAME, model=model, messages=messages, text=text)


def read_stream(request: Mapping[str, object], events: Sequence[Mapping[str, object]]) -> Reading:
    return read(request, list(events))
