"""Keeps a trace linear: what was written before is referred to, not written again.

`{"$run":[event,n,from,to]}` in an array stands for elements of the n-th array of an
earlier event's request, `{"$text":[event,n]}` for its n-th long string. Arrays and
long strings are numbered in document order of the request as it stands in the line;
the long strings of the outcome follow, as an agent sends an answer back.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from hashlib import blake2b
from typing import cast

from ..canonical import NOT_JSON, Chains, Links, Plain, decode, parse_json

__all__ = ["LONG_TEXT", "Folder", "body_outcome", "long_texts"]

LONG_TEXT = 256
"""Characters from which on a string is numbered."""

_MIN_RUN = 64
"""Encoded bytes from which on one element is worth a reference."""

_MIN_COUNT = 8
"""Small elements in a row that are worth a reference."""

_RECENT = 16
"""Arrays whose order is remembered, so that a run can be longer than one element."""


def long_texts(values: list[Plain]) -> Iterator[str]:
    """Yield the numbered strings of values that are not folded, in document order."""
    stack = values[::-1]
    while stack:
        value = stack.pop()
        if type(value) is str:
            if len(value) >= LONG_TEXT:
                yield value
        elif type(value) is list:
            stack.extend(reversed(cast("list[Plain]", value)))
        elif type(value) is dict:
            stack.extend(reversed(list(cast("dict[str, Plain]", value).values())))


def body_outcome(data: bytes) -> Plain:
    """The value of a JSON body whose strings are numbered; None if they are not."""
    if len(data) <= LONG_TEXT or parse_json(data) is NOT_JSON:
        return None
    return decode(data)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


class Folder:
    """Folds the requests of one file, in the order in which they are written."""

    __slots__ = (
        "_arrays",
        "_chains",
        "_event",
        "_homes",
        "_lists",
        "_pending",
        "_recent",
        "_strings",
        "_texts",
    )

    def __init__(self, chains: Chains | None = None) -> None:
        self._chains = chains or Chains()
        self._arrays: dict[bytes, tuple[int, int]] = {}
        self._homes: dict[bytes, tuple[int, int, int, int]] = {}
        self._recent: OrderedDict[tuple[int, int], list[bytes]] = OrderedDict()
        self._texts: dict[bytes, tuple[int, int]] = {}
        self._pending: list[tuple[Links, int, int]] = []
        self._event = 0
        self._lists = 0
        self._strings = 0

    def fold(
        self, event: int, request: dict[str, Plain], outcome: Plain = None
    ) -> dict[str, Plain]:
        """Return the request of an event with what was written before replaced.

        The long strings of `outcome` can be referred to from now on.
        """
        self._event = event
        self._lists = 0
        self._strings = 0
        folded = {key: self._fold(value, key) for key, value in request.items()}
        for pending in self._pending:  # only now: a run points to an earlier event
            self._remember(*pending)
        self._pending.clear()
        for text in long_texts([outcome]):
            self._texts.setdefault(_digest(text), (event, self._strings))
            self._strings += 1
        return folded

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
        digest = _digest(text)
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
        links = self._chains.links(chain, items)
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
        if index > start:
            self._pending.append((links, number, start))
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
        event, number, position, size = home
        known = self._recent.get((event, number), ())
        length = 1
        for one, two in zip(known[position + 1 :], digests[index + 1 :]):
            if one != two:
                break
            length += 1
        if size < _MIN_RUN and length < _MIN_COUNT:
            return None
        return event, number, position, position + length

    def _remember(self, links: Links, number: int, start: int) -> None:
        event, homes = self._event, self._homes
        total = 0
        for index in range(start, len(links.digests)):
            digest = links.digests[index]
            size = links.sizes[index]
            homes[digest] = (event, number, index, size)
            total += size
        if total >= _MIN_RUN or start:
            self._arrays[links.prefix[-1]] = (event, number)
            self._recent[event, number] = links.digests
            if len(self._recent) > _RECENT:
                self._recent.popitem(last=False)
