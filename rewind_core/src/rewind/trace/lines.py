"""One line of a trace: JSON closed by a checksum of itself.

The checksum is the last member, so a line stays readable JSON and can be checked
without parsing it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from zlib import crc32

__all__ = ["check", "seal", "split_lines"]

_TAIL = len(b',"#":"00000000"}')
_MARK = re.compile(rb',"#":"([0-9a-f]{8})"\}')
_STARTS = 4


def seal(text: bytes) -> bytes:
    """Return the line, with newline, of an encoded JSON object that has members."""
    body = text[:-1]
    return b'%b,"#":"%08x"}\n' % (body, crc32(body))


def check(line: bytes) -> bool:
    """Whether a line without its newline carries its own checksum."""
    return line[-_TAIL:] == b',"#":"%08x"}' % crc32(memoryview(line)[:-_TAIL])


def split_lines(line: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (offset, line) of the sound lines inside one whose newlines were damaged."""
    starts = [0]
    for found in _MARK.finditer(line):
        stated = int(found[1], 16)
        for start in starts:
            if crc32(memoryview(line)[start : found.start()]) == stated:
                yield start, line[start : found.end()]
                starts.clear()
                break
        starts = [*starts[-_STARTS:], found.end() + 1]
