"""Replacing parts of bytes while the places where their chunks ended stay known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["Edit", "apply_edits", "merged", "replace_spans"]


class Edit(NamedTuple):
    """`data[start:end]` becomes `new`."""

    start: int
    end: int
    new: bytes


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans in order, overlapping ones as one."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if result and start < result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def replace_spans(text: str, spans: Iterable[tuple[int, int]], new: str) -> str:
    """Return the text with each span replaced by `new`."""
    parts: list[str] = []
    position = 0
    for start, end in merged(spans):
        parts += (text[position:start], new)
        position = end
    return "".join((*parts, text[position:])) if parts else text


def apply_edits(
    data: bytes, edits: Sequence[Edit], cuts: Sequence[int]
) -> tuple[bytes, tuple[int, ...]]:
    """Return the edited data and where its `cuts` are now.

    A cut inside a replaced part moves to its end. `edits` are in order and do not overlap.
    """
    parts: list[bytes] = []
    moved: list[int] = []
    waiting = list(cuts)[::-1]
    position = size = 0
    for start, end, new in edits:
        while waiting and waiting[-1] <= start:
            moved.append(size + waiting.pop() - position)
        parts += (data[position:start], new)
        size += start - position + len(new)
        position = end
        while waiting and waiting[-1] <= end:
            waiting.pop()
            moved.append(size)
    moved += (size + cut - position for cut in reversed(waiting))
    result = b"".join((*parts, data[position:]))
    return result, tuple(dict.fromkeys(moved))
