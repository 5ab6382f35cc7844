"""Masking of a stream whose chunks end anywhere, also inside a credential."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

from .rules import SECRET, starts_shape

if TYPE_CHECKING:
    from .masker import Masker

__all__ = ["Piece", "StreamMasker"]

Scrub = Callable[[bytes, tuple[int, ...]], tuple[bytes, tuple[int, ...]]]

_LONGEST_LINE: Final = 65_536
_LAST_WORD: Final = re.compile(rb"[A-Za-z0-9_.~+/=%-]+\Z")
_LONGEST_WORD: Final = 512
_TELLING: Final = 8


class Piece(NamedTuple):
    """Bytes to write now; `more`: what follows belongs to the same chunk."""

    data: bytes
    more: bool = False


class StreamMasker:
    """Holds back what may yet turn out to be a credential, and gives the rest on at once.

    Of a stream of lines (`by_line`: server-sent events, JSON lines) that is the unfinished line,
    so that `scrub` sees whole ones; of others a last word that may be the beginning of a key.
    """

    def __init__(self, masker: Masker, scrub: Scrub | None, *, by_line: bool) -> None:
        self._masker = masker
        self._scrub = scrub
        self._by_line = by_line
        self._held = b""
        self._cuts: tuple[int, ...] = ()

    def feed(self, chunk: bytes) -> list[Piece]:
        """Take a chunk as it came; return what can be written."""
        data = self._held + chunk
        cuts = (*self._cuts, len(data))
        ready = self._ready(data)
        self._held = data[ready:]
        self._cuts = tuple(cut - ready for cut in cuts if cut > ready)
        return self._pieces(data[:ready], tuple(cut for cut in cuts if cut <= ready))

    def flush(self) -> list[Piece]:
        """Return what was held back, at the end of the stream.

        An unfinished line that `scrub` could not read is left out: the agent has not read it
        either.
        """
        data, cuts = self._held, self._cuts
        self._held, self._cuts = b"", ()
        if not data or (self._scrub is not None and self._by_line and data[:1] in b"d{["):
            return []
        start = self._suspicious(data)
        if len(data) - start >= _TELLING:
            data = data[:start] + SECRET.encode()
            cuts = (*(cut for cut in cuts if cut <= start), len(data))
        return self._pieces(data, tuple(dict.fromkeys(cuts)))

    def _ready(self, data: bytes) -> int:
        if self._by_line:
            line = data.rfind(b"\n") + 1
            if len(data) - line <= _LONGEST_LINE:
                return line
        return self._suspicious(data)

    def _suspicious(self, data: bytes) -> int:
        """Where a last word begins that may go on to be a credential, else the end."""
        last = _LAST_WORD.search(data, max(0, len(data) - _LONGEST_WORD))
        if last is None:
            return len(data)
        word = last.group().decode("ascii")
        found = starts_shape(word) or self._masker.known.starts(word)
        return last.start() if found else len(data)

    def _pieces(self, data: bytes, cuts: tuple[int, ...]) -> list[Piece]:
        if not data:
            return []
        data, cuts = self._masker.body(data, cuts)
        if self._scrub is not None:
            data, cuts = self._scrub(data, cuts)
        ends = [cut for cut in cuts if cut]
        starts = [0, *ends]
        pieces = [Piece(data[a:b]) for a, b in zip(starts, ends) if b > a]
        if (rest := data[starts[-1] :]) != b"":
            pieces.append(Piece(rest, more=True))
        return pieces
