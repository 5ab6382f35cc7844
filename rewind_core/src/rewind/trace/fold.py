"""Keeps a trace linear: what was written before is referred to, not written again.

`{"$run":[event,n,from,to]}` in an array stands for elements of the n-th array of an
earlier event's request, `{"$text":[event,n]}` for its n-th long string. Arrays and
long strings are numbered in document order of the request as it stands in the line.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import cast

from ..canonical import Chain, Plain, encode

__all__ = ["LONG_TEXT", "Folder"]

LONG_TEXT = 256
"""Characters from which on a string is numbered."""

_MIN_RUN = 64
"""Encoded bytes from which on an element is worth a reference."""


class Folder:
    """Folds the requests of one file, in the order in which they are written."""

    __slots__ = ("_arrays", "_chains", "_event", "_homes", "_lists", "_strings", "_texts")

    def __init__(self) -> None:
        self._chains: dict[str, Chain] = {}
        self._arrays: dict[bytes, tuple[int, int, int]] = {}
        self._homes: dict[bytes, tuple[int, int, int]] = {}
        self._texts: dict[bytes, tuple[int, int]] = {}
        self._event = 0
        self._lists = 0
        self._strings = 0

    def fold(self, event: int, request: dict[str, Plain]) -> dict[str, Plain]:
        """Return the request of an event with what was written before replaced."""
        self._event = event
        self._lists = 0
        self._strings = 0
        return {key: self._fold(value, key) for key, value in request.items()}

    def _fold(self, value: Plain, chain: str = "") -> Plain:
        if type(value) is str:
            return self._text(value) if len(value) >= LONG_TEXT else value
        if type(value) is dict:
            members = cast("dict[str, Plain]", value)
            return {key: self._fold(item) for key, item in members.items()}
        if type(value) is list:
            return self._list(cast("list[Plain]", value), chain)
        return value

    def _text(self, text: str) -> Plain:
        digest = blake2b(text.encode(), digest_size=16).digest()
        home = self._texts.get(digest)
        if home is not None:
            return {"$text": list(home)}
        self._texts[digest] = (self._event, self._strings)
        self._strings += 1
        return text

    def _list(self, items: list[Plain], chain: str) -> list[Plain]:
        number = self._lists
        self._lists += 1
        if not items:
            return items
        links = self._chains.setdefault(chain, Chain()).links(items)
        folded: list[Plain] = []
        start = self._prefix(links.prefix, folded)
        index = start
        while index < len(items):
            run = self._run(links.digests, index)
            if run is None:
                folded.append(self._fold(items[index]))
                index += 1
            else:
                folded.append({"$run": list(run)})
                index += run[3] - run[2]
        if index > start or start == 0:
            self._remember(links.digests, links.prefix, items, number, start)
        return folded

    def _prefix(self, prefix: list[bytes], folded: list[Plain]) -> int:
        for length in range(len(prefix) - 1, 0, -1):
            home = self._arrays.get(prefix[length])
            if home is not None:
                folded.append({"$run": [home[0], home[1], 0, length]})
                return length
        return 0

    def _run(self, digests: list[bytes], index: int) -> tuple[int, int, int, int] | None:
        home = self._homes.get(digests[index])
        if home is None:
            return None
        event, number, position = home
        length = 1
        while index + length < len(digests):
            following = self._homes.get(digests[index + length])
            if following != (event, number, position + length):
                break
            length += 1
        return event, number, position, position + length

    def _remember(
        self,
        digests: list[bytes],
        prefix: list[bytes],
        items: list[Plain],
        number: int,
        start: int,
    ) -> None:
        size = 0
        for index in range(start, len(items)):
            length = len(encode(items[index]))
            size += length
            if length >= _MIN_RUN:
                self._homes[digests[index]] = (self._event, number, index)
        if size >= _MIN_RUN or start:
            self._arrays[prefix[-1]] = (self._event, number, len(items))
