"""Turns folded requests back into whole ones; the reading half of `fold`.

Chains of references are followed without recursion and with a budget, because a file
may be long, and may be hostile.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final, cast

from ..canonical import Plain
from ..errors import TraceFormatError
from .fold import LONG_TEXT, long_texts

__all__ = ["Expander", "Folded"]

_MEMO: Final = 16
_FOLDED_MEMO: Final = 64
_MAX_ELEMENTS: Final = 5_000_000
_MAX_TEXT: Final = 1 << 30
_MAX_DEPTH: Final = 400

Load = Callable[[int], "tuple[int, dict[str, Plain]]"]


class Folded:
    """A request as it stands in its line, its arrays and long strings numbered."""

    __slots__ = ("arrays", "numbers", "offset", "request", "texts", "whole")

    def __init__(self, offset: int, request: dict[str, Plain]) -> None:
        self.offset = offset
        self.request = request
        self.arrays: list[list[Plain]] = []
        self.texts: list[str] = []
        self.whole = False
        stack: list[Plain] = list(reversed(list(request.values())))
        while stack:
            self._number(stack.pop(), stack)
        self.numbers = {id(array): number for number, array in enumerate(self.arrays)}

    def _number(self, value: Plain, stack: list[Plain]) -> None:
        if type(value) is str:
            if len(value) >= LONG_TEXT:
                self.texts.append(value)
        elif type(value) is list:
            items = cast("list[Plain]", value)
            self.arrays.append(items)
            stack.extend(item for item in reversed(items) if marker(item, "$run") is None)
        elif type(value) is dict and marker(value, "$text") is None:
            members = cast("dict[str, Plain]", value)
            inner = marker(members, "$dict")
            stack.extend(reversed(list((members if inner is None else inner).values())))


def marker(value: Plain, tag: str) -> Plain:
    """What the one-key dict of this tag holds; None for anything else."""
    if type(value) is dict and len(value) == 1 and tag in value:
        return value[tag]
    return None


class Expander:
    """Expands requests of one file.

    `load(event)` gives (offset, folded request), `outcome(event)` its returned value or body.
    """

    __slots__ = ("_done", "_elements", "_folded", "_load", "_outcome", "_text")

    def __init__(self, load: Load, outcome: Callable[[int], Plain]) -> None:
        self._load = load
        self._outcome = outcome
        self._folded: OrderedDict[int, Folded] = OrderedDict()
        self._done: OrderedDict[tuple[int, int], list[Plain]] = OrderedDict()
        self._elements = 0
        self._text = 0

    def expand(self, event: int) -> dict[str, Plain]:
        """Return the whole request. Its parts are shared and must not be changed."""
        self._elements = 0
        self._text = 0
        folded = self.folded(event, None)
        return {key: self._value(item, event, 0) for key, item in folded.request.items()}

    def folded(self, event: int, before: int | None) -> Folded:
        """Return the folded request of an event whose line begins before the given offset."""
        found = self._folded.get(event)
        if found is None:
            found = Folded(*self._load(event))
            self._folded[event] = found
            if len(self._folded) > _FOLDED_MEMO:
                self._folded.popitem(last=False)
        if before is not None and found.offset >= before:
            raise TraceFormatError(f"event {event}: is referred to before it was written")
        return found

    def _value(self, value: Plain, event: int, depth: int) -> Plain:
        if type(value) is list:
            return self._array(cast("list[Plain]", value), event, depth)
        if type(value) is not dict:
            return value
        if depth > _MAX_DEPTH:
            raise TraceFormatError(f"event {event}: nested too deeply")
        members = cast("dict[str, Plain]", value)
        text = marker(members, "$text")
        if text is not None:
            return self._text_at(text, event)
        inner = marker(members, "$dict")
        if type(inner) is dict:
            escaped = cast("dict[str, Plain]", inner)
            return {"$dict": {k: self._value(v, event, depth + 1) for k, v in escaped.items()}}
        return {key: self._value(item, event, depth + 1) for key, item in members.items()}

    def _text_at(self, place: Plain, event: int) -> str:
        home, number = _numbers(place, 2, event)
        before = None if home == event else self.folded(event, None).offset
        folded = self.folded(home, before)
        if number >= len(folded.texts) and home != event and not folded.whole:
            folded.texts.extend(long_texts([self._outcome(home)]))
            folded.whole = True
        texts = folded.texts
        if not 0 <= number < len(texts):
            raise TraceFormatError(f"event {event}: a reference to a text that is not there")
        self._text += len(texts[number])
        if self._text > _MAX_TEXT:
            raise TraceFormatError(f"event {event}: expands beyond every measure")
        return texts[number]

    def _array(self, items: list[Plain], event: int, depth: int) -> list[Plain]:
        number = self.folded(event, None).numbers.get(id(items))
        out: list[Plain] = []
        self._segments([(event, items, 0, _length(items, event))], out, depth)
        if number is not None and len(items) < len(out):
            self._done[event, number] = out
            if len(self._done) > _MEMO:
                self._done.popitem(last=False)
        return out

    def _segments(
        self, stack: list[tuple[int, list[Plain], int, int]], out: list[Plain], depth: int
    ) -> None:
        while stack:
            event, items, start, stop = stack.pop()
            later: list[tuple[int, list[Plain], int, int]] = []
            position = 0
            for item in items:
                if position >= stop:
                    break
                run = marker(item, "$run")
                size = 1 if run is None else run[3] - run[2]
                low, high = max(start - position, 0), min(stop - position, size)
                position += size
                if low >= high:
                    continue
                self._count(high - low, event)
                if run is not None:
                    later.append(self._target(run, low, high, event))
                elif later:
                    later.append((event, [item], 0, 1))
                else:
                    out.append(self._value(item, event, depth + 1))
            if position < stop:
                raise TraceFormatError(f"event {event}: a reference beyond the end of an array")
            stack.extend(reversed(later))
            self._take_done(stack, out)

    def _target(
        self, run: Plain, low: int, high: int, event: int
    ) -> tuple[int, list[Plain], int, int]:
        home, number, start, _ = _numbers(run, 4, event)
        arrays = self.folded(home, self.folded(event, None).offset).arrays
        if not 0 <= number < len(arrays):
            raise TraceFormatError(f"event {event}: a reference to an array that is not there")
        return home, arrays[number], start + low, start + high

    def _take_done(self, stack: list[tuple[int, list[Plain], int, int]], out: list[Plain]) -> None:
        while stack:
            event, items, start, stop = stack[-1]
            number = self.folded(event, None).numbers.get(id(items))
            done = self._done.get((event, number)) if number is not None else None
            if done is None:
                return
            if stop > len(done):
                raise TraceFormatError(f"event {event}: a reference beyond the end of an array")
            stack.pop()
            out.extend(done[start:stop])

    def _count(self, elements: int, event: int) -> None:
        self._elements += elements
        if self._elements > _MAX_ELEMENTS:
            raise TraceFormatError(f"event {event}: expands beyond every measure")


def _length(items: list[Plain], event: int) -> int:
    total = 0
    for item in items:
        run = marker(item, "$run")
        if run is None:
            total += 1
        else:
            _, _, start, stop = _numbers(run, 4, event)
            if not 0 <= start < stop:
                raise TraceFormatError(f"event {event}: an empty reference")
            total += stop - start
    return total


def _numbers(place: Plain, count: int, event: int) -> list[int]:
    if type(place) is list and len(place) == count:
        numbers = cast("list[Plain]", place)
        if all(type(number) is int for number in numbers):
            return cast("list[int]", numbers)
    raise TraceFormatError(f"event {event}: a malformed reference")
