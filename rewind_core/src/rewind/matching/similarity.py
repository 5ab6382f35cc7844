"""How alike two requests are: the backend of fuzzy matching and of the diff."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable
from numbers import Real

from ..errors import SessionError

__all__ = [
    "Similarity",
    "current_similarity",
    "letter_ratio",
    "lexical_similarity",
    "set_similarity",
    "slow_ratio",
]

Similarity = Callable[[str, str], float]
_WORD = re.compile(r"\w+")


def lexical_similarity(a: str, b: str) -> float:
    """Likeness of two texts between 0 and 1: of their letters in order, and of their words.

    The first is the normalised indel similarity of rapidfuzz (extra `[fuzzy]`), or without it
    the ratio of difflib, which is slower; the second the Jaccard index of the words.
    """
    if a == b:
        return 1.0
    ours, theirs = set(_WORD.findall(a.lower())), set(_WORD.findall(b.lower()))
    words = len(ours & theirs) / len(ours | theirs) if ours or theirs else 0.0
    return (letter_ratio()(a, b) + words) / 2


def slow_ratio(a: str, b: str) -> float:
    """What `letter_ratio` is without rapidfuzz."""
    return difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()


@functools.cache
def letter_ratio() -> Similarity:
    """The function that compares two texts by their letters in order, between 0 and 1."""
    try:
        from rapidfuzz.distance import Indel
    except ImportError:
        return slow_ratio
    return lambda a, b: float(Indel.normalized_similarity(a, b))


_backend: list[Similarity] = [lexical_similarity]


def set_similarity(function: Similarity) -> None:
    """Use `function(a, b) -> float in [0, 1]` for fuzzy matching, in the whole process.

    It is given the two requests as JSON text. Raises `SessionError` if it cannot be called.
    """
    if not callable(function):
        raise SessionError(f"set_similarity({function!r}): give a function of two texts")
    _backend[0] = function


def current_similarity(a: str, b: str) -> float:
    """What the chosen backend says; anything but a number between 0 and 1 is an error."""
    value: object = _backend[0](a, b)
    if not isinstance(value, Real) or not -1e-6 <= float(value) <= 1 + 1e-6:
        raise SessionError(f"the similarity backend gave {value!r}, not a number between 0 and 1")
    return min(max(float(value), 0.0), 1.0)
