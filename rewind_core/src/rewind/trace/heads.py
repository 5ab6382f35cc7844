"""The two heads of an HTTP exchange hardly change from call to call: they stand once in a trace."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import msgspec

from .records import HeadLine, WireRecord

__all__ = ["Changes", "Heads", "merge"]

_Pairs = list[tuple[str, str]]
Changes = list[tuple[int, str]]
"""Positions in a list of headers, and the values that stand there instead."""

_Shape = tuple[object, ...]

_REMEMBERED: Final = 64


class _Known(msgspec.Struct):
    line: HeadLine
    shared: bool = False


class Heads:
    """Writes head lines through `write`, and tells which one an exchange refers to.

    Those that several events refer to are written a second time, so that no single damaged
    line costs more than one event.
    """

    __slots__ = ("_known", "_number", "_write")

    def __init__(self, write: Callable[[HeadLine], None]) -> None:
        self._write = write
        self._number = 0
        self._known: OrderedDict[_Shape, _Known] = OrderedDict()

    def refer(self, wire: WireRecord) -> tuple[int, Changes, Changes]:
        """The number of a head line, and how the request and response headers differ from it."""
        shape = _shape(wire)
        known = self._known.get(shape)
        if known is not None:
            sent = _changed(known.line.request_headers, wire.request_headers)
            received = _changed(known.line.headers, wire.headers)
            if 2 * (len(sent) + len(received)) <= len(wire.request_headers) + len(wire.headers):
                known.shared = True
                self._known.move_to_end(shape)
                return known.line.head, sent, received
            self._forget(shape)
        elif len(self._known) >= _REMEMBERED:
            self._forget(next(iter(self._known)))
        line = _head_line(self._number, wire)
        self._write(line)
        self._number += 1
        self._known[shape] = _Known(line)
        return line.head, [], []

    def repeat(self) -> None:
        """Write the shared heads once more; nothing refers to them any longer."""
        for shape in list(self._known):
            self._forget(shape)

    def _forget(self, shape: _Shape) -> None:
        known = self._known.pop(shape)
        if known.shared:
            self._write(known.line)


def merge(base: _Pairs, changes: Changes) -> _Pairs:
    """`base` with other values at some positions."""
    merged = list(base)
    for index, value in changes:
        merged[index] = merged[index][0], value
    return merged


def _shape(wire: WireRecord) -> _Shape:
    sent = tuple(name for name, _ in wire.request_headers)
    received = tuple(name for name, _ in wire.headers)
    return (
        wire.method, wire.url, wire.status, wire.reason, wire.http_version, sent, received
    )  # fmt: skip


def _changed(base: _Pairs, headers: _Pairs) -> Changes:
    return [
        (index, new[1])
        for index, (old, new) in enumerate(zip(base, headers, strict=True))
        if old[1] != new[1]
    ]


def _head_line(number: int, wire: WireRecord) -> HeadLine:
    return HeadLine(
        head=number,
        method=wire.method,
        url=wire.url,
        request_headers=wire.request_headers,
        status=wire.status,
        reason=wire.reason,
        http_version=wire.http_version,
        headers=wire.headers,
    )
