"""What a user sees of a response body: parsed JSON, a stream's events, text, or bytes."""

from __future__ import annotations

from typing import Any

from ..canonical import NOT_JSON, from_plain, parse_json
from .records import WireRecord

__all__ = ["content_type", "http_error", "parsed", "parsed_stream"]


def content_type(headers: list[tuple[str, str]]) -> str:
    """The media type in lower case, without parameters; "" if there is none."""
    for name, value in headers:
        if name.lower() == "content-type":
            return value.partition(";")[0].strip().lower()
    return ""


def parsed(data: bytes, media_type: str) -> Any:
    """JSON as values, other text as str, the rest as bytes, nothing as None."""
    if not data:
        return None
    if media_type == "text/event-stream":
        return parsed_stream(data, media_type)
    value = parse_json(data)
    if value is not NOT_JSON:
        return from_plain(value)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data


def parsed_stream(data: bytes, media_type: str) -> Any:
    """The events of an event stream or of JSON lines; other streams as `parsed`."""
    if media_type == "text/event-stream":
        return [_item(event) for event in _sse_data(data) if event != b"[DONE]"]
    if "ndjson" in media_type or "jsonl" in media_type or "json-seq" in media_type:
        return [_item(line) for line in data.split(b"\n") if line.strip()]
    return parsed(data, media_type)


def _item(data: bytes) -> Any:
    value = parse_json(data)
    return data.decode("utf-8", "replace") if value is NOT_JSON else from_plain(value)


def _sse_data(data: bytes) -> list[bytes]:
    events: list[bytes] = []
    lines: list[bytes] = []
    for line in data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"):
        if line.startswith(b"data:"):
            payload = line[5:]
            lines.append(payload[1:] if payload[:1] == b" " else payload)
        elif not line and lines:
            events.append(b"\n".join(lines))
            lines = []
    return events


def http_error(wire: WireRecord, data: bytes) -> dict[str, Any]:
    """A refused call as an error: its status and the provider's message."""
    return {"type": "http", "status": wire.status, "message": _message(data) or wire.reason}


def _message(data: bytes) -> str:
    value = parse_json(data)
    for _ in range(3):
        if isinstance(value, str):
            return value
        if not isinstance(value, dict):
            break
        value = next((value[k] for k in ("error", "message", "detail") if k in value), None)
    return value if isinstance(value, str) else data[:200].decode("utf-8", "replace")
