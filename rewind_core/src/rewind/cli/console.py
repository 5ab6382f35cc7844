"""Output: colours on a terminal, plain text in a pipe, nothing in it that could steer a terminal."""

from __future__ import annotations

import re
import sys
from typing import TextIO

from rich.console import Console
from rich.text import Text

__all__ = ["Out", "ReaderGone", "clean", "one_line"]

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Text of a trace made safe to print: control and direction characters become visible."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text.replace("\r\n", "\n"))


def one_line(text: str, size: int) -> str:
    """Text on one line of at most `size` characters."""
    text = " ".join(clean(text[: size * 8]).split())
    return text if len(text) <= size else text[: size - 1] + "…"


class ReaderGone(Exception):
    """Who reads our output has closed the pipe."""


class Out:
    """Lines with a style each. Wide lines are cut on a terminal and left whole in a pipe."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._console = Console(file=stream, highlight=False, markup=False, emoji=False)

    @property
    def terminal(self) -> bool:
        return self._console.is_terminal

    @property
    def width(self) -> int:
        """How wide a preview may be."""
        return max(self._console.width, 40) if self.terminal else 160

    def line(self, *parts: str | tuple[str, str], wrap: bool = False) -> None:
        """Print parts: plain text, or (text, style)."""
        if not self.terminal:
            text = "".join(part if isinstance(part, str) else part[0] for part in parts)
            self.raw(text + "\n")
            return
        text = Text.assemble(*parts)
        if wrap:
            self._console.print(text)
        else:
            self._console.print(text, overflow="ellipsis", no_wrap=True, crop=True)

    def raw(self, text: str) -> None:
        try:
            self._stream.write(text)
        except BrokenPipeError:
            raise ReaderGone from None

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            raise ReaderGone from None
