"""Scans a trace once: a small skeleton per event, and where its lines stand."""

from __future__ import annotations

import os
import re
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec

from ..errors import TraceFormatError
from .archive import unpacked
from .lines import check, split_lines
from .records import ChunkLine, DoneLine, EndLine, HeaderLine, HeadLine, StartLine
from .writer import VERSION, partial_names

__all__ = ["Damage", "Found", "Scan", "Skeleton", "Source", "open_source", "scan"]

_KIND: Final = re.compile(rb'\{"([a-z]+)":\s?(\d+)')


@dataclass(frozen=True, slots=True, kw_only=True)
class Damage:
    """A line that cannot be read; `event` is the event that it belongs to, if known."""

    line: int
    reason: str
    event: int | None = None

    def __str__(self) -> str:
        step = "" if self.event is None else f" (step {self.event})"
        return f"line {self.line}: {self.reason}{step}"


class Skeleton(msgspec.Struct, kw_only=True):
    """The small members of an event line."""

    event: int
    kind: str = ""
    name: str = ""
    ring: str = ""
    id: str = ""
    after: int | None = None
    parent: int | None = None
    branch: list[int] = []
    ticks: tuple[int, int] = (0, 0)
    time: float = 0.0
    ms: float = 0.0
    upstream: str | None = None
    attempt: int = 0
    stream: bool = False
    head: int | None = None
    meta: dict[str, Any] = {}


@dataclass(slots=True, kw_only=True)
class Found:
    """An event of a scanned file. `places` are (offset, length) of its line and chunks."""

    skeleton: Skeleton
    line: int = 0
    place: tuple[int, int] | None = None
    chunks: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    done: DoneLine | None = None
    damage: str | None = None


@dataclass(slots=True)
class Scan:
    """What one pass over a file found."""

    header: HeaderLine = field(default_factory=lambda: HeaderLine(rewind=VERSION))
    events: dict[int, Found] = field(default_factory=dict[int, Found])
    heads: dict[int, tuple[int, int]] = field(default_factory=dict[int, "tuple[int, int]"])
    starts: dict[int, StartLine] = field(default_factory=dict[int, StartLine])
    end: int | None = None
    damage: list[Damage] = field(default_factory=list[Damage])


class Source:
    """The bytes of an open file, read by place; the file may be renamed or replaced."""

    __slots__ = ("__weakref__", "_fd", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            self._fd = unpacked(path, fd)
        except BaseException:
            os.close(fd)
            raise
        weakref.finalize(self, os.close, self._fd)

    def read(self, offset: int, length: int) -> bytes:
        """Return the bytes of a place."""
        if hasattr(os, "pread"):
            return os.pread(self._fd, length, offset)
        os.lseek(self._fd, offset, os.SEEK_SET)
        return os.read(self._fd, length)

    def lines(self) -> Any:
        """Return a fresh buffered reader from the first byte."""
        os.lseek(self._fd, 0, os.SEEK_SET)
        return os.fdopen(os.dup(self._fd), "rb", buffering=1 << 18)


def open_source(path: Path) -> Source:
    """Open a trace, or the `.partial` of a run that did not end."""
    try:
        if not path.exists() and path.suffix != ".partial":
            leftovers = partial_names(path)
            if leftovers:
                path = leftovers[-1]
        if path.is_dir():
            raise TraceFormatError(f"{path}: is a directory, not a trace")
        if path.exists() and not path.is_file():
            raise TraceFormatError(f"{path}: is a device or a pipe; a trace is read from a file")
        return Source(path)
    except FileNotFoundError:
        raise TraceFormatError(f"{path}: no such trace") from None
    except OSError as error:
        raise TraceFormatError(f"{path}: cannot be read: {error.strerror}") from error


def scan(source: Source) -> Scan:
    """Read every line once. Raises `TraceFormatError` if it is no trace of this format."""
    scanner = _Scanner(source.path)
    offset = 0
    with source.lines() as lines:
        if not lines.peek(1).startswith(b"{"):  # not every file has lines
            reason = "is not a rewind trace (line 1)" if lines.peek(1) else "is empty"
            raise TraceFormatError(f"{source.path}: {reason}")
        for number, raw in enumerate(lines, 1):
            scanner.take(number, offset, raw)
            offset += len(raw)
    scanner.finish()
    return scanner.result


class _Scanner:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.opened = False
        self.result = Scan()

    def take(self, number: int, offset: int, raw: bytes) -> None:
        torn = not raw.endswith(b"\n")
        line = raw if torn else raw[:-1]
        if not self.opened:
            self.opened = True
            self.open(line)
        if torn and number == 1 and not check(line):
            raise TraceFormatError(f"{self.path}: holds no complete line")
        if check(line):
            self.line(number, offset, line)
            return
        end = 0
        for start, piece in split_lines(line):
            if start > end + 1:
                self.damaged(number, line[end:start])
            self.line(number, offset + start, piece)
            end = start + len(piece)
        if end + 1 < len(line) and not torn:
            self.damaged(number, line[end:])
        elif end == 0 and not torn:
            self.damaged(number, line)

    def open(self, line: bytes) -> None:
        found = _KIND.match(line)
        if found is None or found[1] != b"rewind":
            raise TraceFormatError(f"{self.path}: is not a rewind trace (line 1)")
        if int(found[2]) > VERSION:
            raise TraceFormatError(
                f"{self.path}: was written by a newer release (format {int(found[2])}, "
                f"this one reads {VERSION}); update rewind-core"
            )

    def line(self, number: int, offset: int, line: bytes) -> None:
        found = _KIND.match(line)
        take = _TAKERS.get(found[1]) if found is not None else None
        if take is None:
            return  # a kind of a later minor release
        try:
            take(self, number, (offset, len(line)), line)
        except (msgspec.DecodeError, RecursionError) as error:
            self.damaged(number, line, str(error))

    def damaged(self, number: int, line: bytes, reason: str = "checksum does not match") -> None:
        found = _KIND.search(line[:64])
        event = int(found[2]) if found is not None and found[1] in _OWN else None
        self.result.damage.append(Damage(line=number, reason=reason, event=event))
        if found is not None and event is not None and found[1] != b"start":
            self.spoil(event, f"line {number}: {reason}")

    def spoil(self, event: int, reason: str) -> None:
        known = self.result.events.get(event)
        if known is None:
            known = self.result.events[event] = Found(skeleton=Skeleton(event=event))
        if known.damage is None:
            known.damage = reason

    def header(self, number: int, place: tuple[int, int], line: bytes) -> None:
        if number == 1:
            self.result.header = msgspec.json.decode(line, type=HeaderLine)

    def start(self, number: int, place: tuple[int, int], line: bytes) -> None:
        start = msgspec.json.decode(line, type=StartLine)
        self.result.starts.setdefault(start.start, start)

    def head(self, number: int, place: tuple[int, int], line: bytes) -> None:
        self.result.heads.setdefault(msgspec.json.decode(line, type=HeadLine).head, place)

    def event(self, number: int, place: tuple[int, int], line: bytes) -> None:
        skeleton = _skeleton.decode(line)
        known = self.result.events.get(skeleton.event)
        if known is None:
            found = Found(skeleton=skeleton, line=number, place=place)
            self.result.events[skeleton.event] = found
        elif known.place is None:
            known.skeleton, known.line, known.place = skeleton, number, place
        else:
            self.damaged(number, b"", f"event {skeleton.event} stands twice")

    def chunk(self, number: int, place: tuple[int, int], line: bytes) -> None:
        seq = msgspec.json.decode(line, type=ChunkLine).chunk
        self.found(seq, number).chunks.append(place)

    def done(self, number: int, place: tuple[int, int], line: bytes) -> None:
        done = msgspec.json.decode(line, type=DoneLine)
        self.found(done.done, number).done = done

    def end(self, number: int, place: tuple[int, int], line: bytes) -> None:
        self.result.end = msgspec.json.decode(line, type=EndLine).end

    def found(self, seq: int, number: int) -> Found:
        known = self.result.events.get(seq)
        if known is None:
            self.spoil(seq, f"line {number}: its event line is missing")
            known = self.result.events[seq]
        return known

    def finish(self) -> None:
        result = self.result
        if result.end is not None:
            for seq in result.starts.keys() - result.events.keys():
                self.spoil(seq, "its line is missing or damaged")
        for seq, found in result.events.items():
            if found.place is None and seq in result.starts:
                start = result.starts[seq]
                found.skeleton.kind, found.skeleton.name = start.kind, start.name
            if found.done is not None and found.done.chunks != len(found.chunks):
                found.damage = found.damage or "a chunk of its stream is missing"
            if found.skeleton.head is not None and found.skeleton.head not in result.heads:
                found.damage = found.damage or f"head {found.skeleton.head} is missing or damaged"


_skeleton = msgspec.json.Decoder(Skeleton)
_OWN: Final = frozenset((b"event", b"chunk", b"done", b"start"))
_TAKERS: Final = {
    b"rewind": _Scanner.header,
    b"start": _Scanner.start,
    b"head": _Scanner.head,
    b"event": _Scanner.event,
    b"chunk": _Scanner.chunk,
    b"done": _Scanner.done,
    b"end": _Scanner.end,
}
