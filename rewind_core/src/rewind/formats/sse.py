"""Server-sent events, parsed as the HTML standard says; every streamed wire format rides on them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import cast

__all__ = ["SseEvent", "parse_sse", "stream_values"]

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True, kw_only=True)
class SseEvent:
    data: str
    event: str = ""
    id: str = ""

    def json(self) -> object:
        """The parsed data, or the text itself where it is not JSON."""
        try:
            return cast("object", json.loads(self.data))
        except (ValueError, RecursionError):
            return self.data


def parse_sse(body: bytes) -> list[SseEvent]:
    """All events of a stream; comments, unknown fields and an unfinished last event are dropped."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    events: list[SseEvent] = []
    data: list[str] = []
    name = last_id = ""
    for line in _LINE_END.split(text)[:-1]:
        if not line:
            if data:
                events.append(SseEvent(data="\n".join(data), event=name, id=last_id))
            data, name = [], ""
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
        elif field == "id" and "\0" not in value:
            last_id = value
    return events


def stream_values(events: list[SseEvent]) -> list[object]:
    """The parsed data of each event; the closing `[DONE]` is no event of the provider."""
    return [event.json() for event in events if event.data != "[DONE]"]
