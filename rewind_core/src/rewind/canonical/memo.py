"""Work done once per element of a growing array.

An agent re-sends its history with every call; what was computed for an element is found
again as long as the array begins with the same objects. Equal is not enough:
`1 == True == 1.0`.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Generic, TypeVar

from .codec import Plain

__all__ = ["PrefixMemo"]

_T = TypeVar("_T")

_REMEMBERED = 16
"""Arrays kept; more than the agents that usually take turns in one session."""


class PrefixMemo(Generic[_T]):
    """Maps arrays element by element, reusing the results of a recent array's beginning.

    The elements are plain values, which are never changed in place.
    """

    __slots__ = ("_function", "_recent")

    def __init__(self, function: Callable[[Plain], _T]) -> None:
        self._function = function
        self._recent: list[tuple[list[Plain], list[_T]]] = []

    def map(self, elements: list[Plain]) -> list[_T]:
        """Return the function's result for each element."""
        if not elements:
            return []
        best, shared = self._best(elements)
        results = [] if best is None else best[1][:shared]
        results.extend(map(self._function, elements[shared:]))
        if best is not None and shared == len(best[0]):
            self._recent = [entry for entry in self._recent if entry is not best]
        self._recent.append((list(elements), results))
        if len(self._recent) > _REMEMBERED:
            del self._recent[0]
        return list(results)

    def _best(self, elements: list[Plain]) -> tuple[tuple[list[Plain], list[_T]] | None, int]:
        best, longest = None, 0
        for entry in reversed(self._recent):
            known = entry[0]
            if len(known) <= longest or known[0] is not elements[0]:
                continue
            shared = shared_length(known, elements)
            if shared > longest:
                best, longest = entry, shared
            if shared == len(elements):
                break
        return best, longest


def shared_length(known: list[Plain], elements: list[Plain]) -> int:
    """Number of first elements that are the same objects."""
    length = min(len(known), len(elements))
    if all(map(is_, known[:length], elements)):
        return length
    return next(i for i in range(length) if known[i] is not elements[i])
