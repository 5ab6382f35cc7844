"""Embeddings: texts in, vectors out; nothing is generated, so output tokens are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .model import Message, Reading, Usage
from .values import as_int, as_list, as_map, as_maps, as_str, as_text

__all__ = ["NAME", "OPERATIONS", "PATHS", "matches", "read", "read_stream"]

NAME = "embeddings"
OPERATIONS = frozenset({"embeddings"})
PATHS = ("/embeddings",)


def matches(response: object) -> bool:
    body = as_map(response)
    data = as_maps(body.get("data"))
    return body.get("object") == "list" and bool(data) and "embedding" in data[0]


def read(request: Mapping[str, object], response: object) -> Reading:
    body = as_map(response)
    data = as_list(body.get("data"))
    usage = as_map(body.get("usage"))
    sent = request.get("input")
    texts = [sent] if isinstance(sent, str) else as_list(sent)
    prompt = as_int(usage.get("prompt_tokens"))
    total = as_int(usage.get("total_tokens"))
    return Reading(
        format=NAME,
        model=as_str(body.get("model")) or as_str(request.get("model")),
        messages=tuple(
            Message(role="user", text=text if isinstance(text, str) else as_text([text]))
            for text in texts
        ),
        usage=Usage(input_tokens=total if prompt is None else prompt, output_tokens=0)
        if usage
        else None,
        text=f"[{len(data)} vector{'' if len(data) == 1 else 's'}]" if data else None,
    )


def read_stream(
    request: Mapping[str, object],
    events: Sequence[Mapping[str, object]],  # noqa: ARG001  embeddings are never streamed
) -> Reading:
    return read(request, {})
