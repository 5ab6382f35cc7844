"""Narrowing of foreign JSON: every reader goes through these, so odd bodies read as absent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

__all__ = ["as_int", "as_list", "as_map", "as_maps", "as_str", "as_text", "json_text", "merged"]

_EMPTY: Mapping[str, object] = {}


def as_map(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else _EMPTY


def as_list(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, (list, tuple)) else ()


def as_maps(value: object) -> list[Mapping[str, object]]:
    """The mappings among the elements of a list; other elements are left out."""
    return [
        cast("Mapping[str, object]", item) for item in as_list(value) if isinstance(item, Mapping)
    ]


def as_str(value: object) -> str | None:
    return value if isinstance(value, str) else None


def as_int(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_text(content: object) -> str:
    """The readable text of a message content: a string, or parts of which only text is shown."""
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for part in as_list(content):
        if isinstance(part, str):
            parts.append(part)
            continue
        fields = as_map(part)
        text = fields.get("text", fields.get("refusal"))
        if isinstance(text, str):
            parts.append(text)
        elif isinstance(kind := fields.get("type"), str):
            parts.append(f"[{kind}]")
    return "\n".join(parts)


def json_text(value: object) -> str:
    """Compact JSON for people; text stays as it is."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=repr, separators=(", ", ": "))
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def merged(maps: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Later values over earlier ones; `None` never replaces a value."""
    result: dict[str, object] = {}
    for item in maps:
        result.update({key: value for key, value in item.items() if value is not None})
    return result
