"""Parsing of bodies that repeat: an agent's next request begins with its last one.

The beginning that two bodies share up to the end of an array element is not parsed
again; the rest is parsed as if those elements were not there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any, Final, Literal, cast

import msgspec

from .codec import NOT_JSON, NotJson, Plain, parse_json

__all__ = ["JsonParser"]

_REMEMBERED: Final = 8
_WORTH: Final = 1024
_STEP: Final = 1 << 16
_SPACE: Final = b" \t\r\n"
_KEY: Final = re.compile(rb'[ \t\r\n]*"(?:[^"\\]|\\.)*"[ \t\r\n]*:[ \t\r\n]*')
_COMMA: Final = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*")
_BLANK: Final = re.compile(rb"[ \t\r\n]*")

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_elements = msgspec.json.Decoder(list[msgspec.Raw])


class _Known:
    """A parsed body: its longest top-level array, and where each element of it ends."""

    __slots__ = ("body", "elements", "ends", "key", "opening")

    def __init__(
        self, body: bytes, key: str, opening: int, ends: list[int], elements: list[Plain]
    ) -> None:
        self.body = body
        self.key = key
        self.opening = opening
        self.ends = ends
        self.elements = elements


class JsonParser:
    """`parse_json` with a memory: elements seen before are the same objects again.

    One per session; threads may share it. The values are shared between results and must not be changed.
    """

    __slots__ = ("_recent",)

    def __init__(self) -> None:
        self._recent: list[_Known] = []

    def parse(self, body: bytes) -> Plain | Literal[NotJson.NOT_JSON]:
        """Return what `parse_json(body)` returns."""
        if len(body) < _WORTH:
            return parse_json(body)
        known, count = self._best(body)
        if known is not None:
            value = self._continue(body, known, count)
            if value is not None:
                return value
        value = parse_json(body)
        if type(value) is dict:
            self._learn(body, cast("dict[str, Plain]", value))
        return value

    def _best(self, body: bytes) -> tuple[_Known | None, int]:
        best, longest = None, 0
        for known in reversed(self._recent):
            shared = _common(known.body, body)
            count = bisect_right(known.ends, shared)
            if count and known.ends[count - 1] > longest:
                best, longest = known, known.ends[count - 1]
        return best, bisect_right(best.ends, longest) if best else 0

    def _continue(self, body: bytes, known: _Known, count: int) -> Plain | None:
        tail = body[known.ends[count - 1] :].lstrip(_SPACE)
        if tail[:1] == b",":
            tail = tail[1:].lstrip(_SPACE)
            if tail[:1] == b"]":
                return None
        elif tail[:1] != b"]":
            return None
        short = known.body[: known.opening] + tail
        value = parse_json(short)
        if value is NOT_JSON or type(value) is not dict:
            return None
        fresh = value.get(known.key)
        if type(fresh) is not list:
            return None
        shift = len(body) - len(short)
        new_ends = [end + shift for end in _ends(short, known.key, known.opening)]
        elements = known.elements[:count] + cast("list[Plain]", fresh)
        ends = known.ends[:count] + new_ends
        if len(ends) == len(elements):
            replaced = known if count == len(known.ends) else None
            self._remember(_Known(body, known.key, known.opening, ends, elements), replaced)
        return {**value, known.key: list(elements)}

    def _learn(self, body: bytes, value: dict[str, Plain]) -> None:
        place = _longest_array(body)
        if place is None:
            return
        key, opening = place
        elements = value.get(key)
        if type(elements) is not list:
            return
        items = cast("list[Plain]", elements)
        ends = _ends(body, key, opening)
        if ends and len(ends) == len(items):
            self._remember(_Known(body, key, opening, ends, list(items)), None)

    def _remember(self, known: _Known, replaced: _Known | None) -> None:
        if replaced is not None:
            self._recent = [entry for entry in self._recent if entry is not replaced]
        self._recent.append(known)
        if len(self._recent) > _REMEMBERED:
            del self._recent[0]


def _common(one: bytes, two: bytes) -> int:
    """Length of the common beginning."""
    length = min(len(one), len(two))
    low = 0
    while low < length and one[low : low + _STEP] == two[low : low + _STEP]:
        low += _STEP
    if low >= length:
        return length
    high = min(low + _STEP, length)
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == two[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _size(raw: msgspec.Raw) -> int:
    return memoryview(cast("Any", raw)).nbytes


def _longest_array(body: bytes) -> tuple[str, int] | None:
    """Key of the longest top-level array, and the offset behind its bracket."""
    try:
        members = _members.decode(body)
    except (ValueError, RecursionError):
        return None
    best, longest = None, 0
    position = body.find(b"{") + 1
    for key, raw in members.items():
        found = _KEY.match(body, position)
        if found is None:
            return None
        start, size = found.end(), _size(raw)
        if size > longest and body[start : start + 1] == b"[":
            best, longest = (key, start + 1), size
        comma = _COMMA.match(body, start + size)
        position = comma.end() if comma else start + size
    return best if longest >= _WORTH // 2 else None


def _ends(body: bytes, key: str, opening: int) -> list[int]:
    """Offsets where the elements of the array `key` end, which opens there."""
    try:
        raws = _elements.decode(_members.decode(body)[key])
    except (ValueError, KeyError, RecursionError):
        return []
    blank = _BLANK.match(body, opening)
    position = blank.end() if blank else opening
    ends: list[int] = []
    for raw in raws:
        position += _size(raw)
        ends.append(position)
        comma = _COMMA.match(body, position)
        position = comma.end() if comma else position
    return ends
