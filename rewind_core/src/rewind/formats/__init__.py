"""Wire formats: what the bodies of a call mean. Shows, diffs and sums need it; replay never does.

A format is one module with `NAME`, `OPERATIONS`, `PATHS`, `matches`, `read` and `read_stream`,
and one entry in `FORMATS`, or under the entry point group
`rewind.formats` of another package.
"""

from __future__ import annotations

import functools
import importlib.metadata
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from ..canonical import from_plain
from . import anthropic_messages, embeddings, opaque, openai_chat, openai_responses
from .model import Message, Reading, ToolCall, Usage, WireFormat
from .sse import SseEvent, parse_sse, stream_values
from .values import as_map

if TYPE_CHECKING:
    from ..trace import Event

__all__ = [
    "FORMATS",
    "Message",
    "Reading",
    "SseEvent",
    "ToolCall",
    "Usage",
    "WireFormat",
    "format_of",
    "parse_sse",
    "read",
    "stream_values",
]

FORMATS: tuple[WireFormat, ...] = (
    cast("WireFormat", openai_chat),
    cast("WireFormat", openai_responses),
    cast("WireFormat", anthropic_messages),
    cast("WireFormat", embeddings),
)
OPAQUE = cast("WireFormat", opaque)


@functools.lru_cache(maxsize=64)
def _named(name: object) -> WireFormat | None:
    """A format of ours, or one that an installed package brings as an entry point."""
    if not isinstance(name, str):
        return None
    for known in (*FORMATS, OPAQUE):
        if name == known.NAME:
            return known
    for found in importlib.metadata.entry_points(group="rewind.formats", name=name):
        return cast("WireFormat", found.load())
    return None


def format_of(event: Event) -> WireFormat:
    """As the event itself says, else by its name, its path, or the shape of its response."""
    found = _named(event.meta.get("format"))
    if found is not None:
        return found
    if event.kind not in ("llm", "http"):
        return OPAQUE
    if event.ring != "function":
        operation = event.name.rpartition(".")[2]
        for known in FORMATS:
            if operation in known.OPERATIONS and event.kind == "llm":
                return known
    wire = event.wire
    if wire is not None:
        path = urlsplit(wire.url).path.rstrip("/")
        for known in FORMATS:
            if path.endswith(known.PATHS) and wire.method == "POST":
                return known
        return OPAQUE
    response = event.response
    return next((known for known in FORMATS if known.matches(response)), OPAQUE)


def read(event: Event, *, history: bool = True) -> Reading:
    """What one recorded event says. Never raises for an odd body: what is absent reads as `None`.

    Without `history` the lists of the request (its messages) are left out, which is what sums and
    lists of steps need: a late turn carries everything said before it.
    """
    request = event.request_if_readable or {}
    if event.wire is None:
        request = {key: from_plain(value) for key, value in request.items()}
    request = as_map(request)
    if not history:
        request = {key: value for key, value in request.items() if not isinstance(value, list)}
    response = event.response
    if event.error is not None and event.wire is not None:
        return OPAQUE.read(request, response)
    return format_of(event).read(request, response)
