"""Traces and events as a user sees them: small when opened, bodies on demand."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from ..canonical import Plain, decode, from_plain
from ..errors import TraceFormatError
from .archive import Compression, write_copy
from .bodies import content_type, http_error, parsed, parsed_stream
from .expand import Expander
from .fold import body_outcome
from .heads import merge
from .reader import Damage, Found, Scan, Source, open_source, scan
from .records import (
    UNSET,
    Body,
    BodyForm,
    ChunkLine,
    EventLine,
    HeaderLine,
    HeadLine,
    Value,
    WireRecord,
    unpack_body,
    unpack_chunk,
)

__all__ = ["Event", "Started", "Trace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A call that had begun when the recording stopped."""

    seq: int
    kind: str
    name: str


class _RequestOnly(msgspec.Struct):
    request: dict[str, Any] = {}


class _Parts:
    """What the events of one file share."""

    __slots__ = ("_heads", "expander", "scan", "source")

    def __init__(self, source: Source, found: Scan) -> None:
        self.source = source
        self.scan = found
        self.expander = Expander(self.load, self.outcome)
        self._heads: dict[int, HeadLine] = {}

    def load(self, event: int) -> tuple[int, dict[str, Plain]]:
        """Return offset and folded request of an event."""
        found = self.scan.events.get(event)
        if found is None or found.place is None:
            raise TraceFormatError(
                f"{self.source.path}: event {event} is missing or damaged, and another refers to it"
            )
        line = self.source.read(*found.place)
        return found.place[0], msgspec.json.decode(line, type=_RequestOnly).request

    def head(self, number: int) -> HeadLine:
        """Return a head line, the latest few of them parsed once."""
        line = self._heads.get(number)
        if line is None:
            place = self.scan.heads[number]
            line = msgspec.json.decode(self.source.read(*place), type=HeadLine)
            if len(self._heads) >= _HEADS:
                self._heads.clear()
            self._heads[number] = line
        return line

    def outcome(self, event: int) -> Plain:
        """Return the value or the JSON body of an event; None for other outcomes."""
        place = self.scan.events[event].place
        line = msgspec.json.decode(self.source.read(*place), type=EventLine) if place else None
        if line is None or line.body is UNSET:
            return decode(bytes(line.value)) if line and line.value is not UNSET else None
        form = msgspec.json.decode(line.body, type=BodyForm)
        return None if form.json is UNSET else body_outcome(bytes(form.json))


_T = TypeVar("_T")
_HEADS: Final = 64


def _guarded(read: Callable[[Event], _T]) -> Callable[[Event], _T]:
    """Turns what a hostile or shortened file causes into an error that names the event."""

    @functools.wraps(read)
    def guarded(self: Event) -> _T:
        try:
            return read(self)
        except (msgspec.MsgspecError, LookupError, ValueError, RecursionError) as error:
            raise TraceFormatError(f"{self.place}: cannot be read: {error}") from error

    return guarded


class Event:
    """One recorded step. Bodies are read from the file when they are asked for."""

    __slots__ = (
        "_found",
        "_parts",
        "after",
        "attempt",
        "branch",
        "complete",
        "damage",
        "ended",
        "id",
        "kind",
        "meta",
        "ms",
        "name",
        "parent",
        "ring",
        "seq",
        "stream",
        "ticks",
        "time",
        "truncated",
        "upstream",
    )

    def __init__(self, found: Found, parts: _Parts) -> None:
        self._found = found
        self._parts = parts
        line, done = found.skeleton, found.done
        self.seq = line.event
        self.kind = line.kind
        self.name = line.name
        self.ring = line.ring
        self.id = line.id
        self.after = line.after
        self.parent = line.parent
        self.branch = line.branch
        self.time = line.time
        self.upstream = line.upstream
        self.attempt = line.attempt
        self.stream = line.stream
        self.meta = line.meta
        self.damage = found.damage
        self.ticks = line.ticks  # of a stream: its start and its head, where it is delivered
        self.ended = line.ticks[1] if done is None else done.tick
        self.ms = line.ms if done is None else done.ms
        self.complete = done is not None or not line.stream
        cut = "interrupted" if not self.complete else None
        self.truncated = cut if done is None else done.truncated

    def __repr__(self) -> str:
        return f"<Event {self.seq} {self.kind} {self.name}>"

    @property
    def place(self) -> str:
        """File and number, for messages."""
        return f"{self._parts.source.path}: event {self.seq}"

    @property
    def ts(self) -> float:
        """Start of the call, seconds since the epoch."""
        return self.time

    @property
    def duration_ms(self) -> float:
        """Duration of the call."""
        return self.ms

    @property
    def fingerprint(self) -> str:
        """Content identity of the call."""
        return self.id

    @property
    def live(self) -> bool:
        """Whether it ran live when this trace was written (a fork also copies events)."""
        return bool(self.meta.get("live", True))

    @property
    @_guarded
    def request(self) -> dict[str, Any]:
        """The request with its Python types, freshly made."""
        return {key: from_plain(value) for key, value in self.request_plain.items()}

    @property
    @_guarded
    def request_plain(self) -> dict[str, Plain]:
        """The request as plain data; shared, not to be changed."""
        self._line()
        return self._parts.expander.expand(self.seq)

    @property
    def request_if_readable(self) -> dict[str, Plain] | None:
        """`request_plain`; None if a line that it stands in or refers to is damaged."""
        try:
            return self.request_plain
        except TraceFormatError:
            return None

    @property
    @_guarded
    def opaque_request(self) -> bytes | None:
        """The body of a request that is not a JSON object."""
        line = self._line()
        return None if line.opaque is UNSET else unpack_body(line.opaque).data

    @property
    @_guarded
    def wire(self) -> WireRecord | None:
        """Method, URL, status and headers of an HTTP exchange."""
        line = self._line()
        if line.head is None:
            return None
        head = self._parts.head(line.head)
        return WireRecord(
            method=head.method,
            url=head.url,
            request_headers=merge(head.request_headers, line.request_headers),
            status=head.status,
            reason=head.reason,
            http_version=head.http_version,
            headers=merge(head.headers, line.headers),
        )

    @property
    @_guarded
    def body(self) -> Body | None:
        """The response body of an HTTP exchange that was not streamed."""
        line = self._line()
        return None if line.body is UNSET else unpack_body(line.body)

    @property
    @_guarded
    def value_plain(self) -> Plain:
        """The returned value as plain data; `UNSET` if it did not return one."""
        line = self._line()
        return UNSET if line.value is UNSET else decode(bytes(line.value))

    @property
    def returned_plain(self) -> Plain:
        """What a generator returned at its end, as plain data."""
        return None if self._found.done is None else self._found.done.returned

    @property
    @_guarded
    def error_plain(self) -> dict[str, Plain] | None:
        """The recorded error of the call or of its stream, as plain data."""
        done = self._found.done
        if done is not None and done.error is not None:
            return done.error
        line = self._line()
        return None if line.error is UNSET else msgspec.json.decode(line.error, type=dict[str, Any])

    @property
    @_guarded
    def error(self) -> dict[str, Any] | None:
        """The error, also the HTTP status of a refused call; None if it went well."""
        plain = self.error_plain
        if plain is not None:
            return {key: from_plain(value) for key, value in plain.items()}
        wire = self.wire
        if wire is None or wire.status < 400:
            return None
        return http_error(wire, self._data())

    @property
    @_guarded
    def response(self) -> Any:
        """The parsed body, the list of a stream's parsed events, or the returned value."""
        value = self.value_plain
        if value is not UNSET:
            return from_plain(value)
        wire = self.wire
        if wire is None:
            chunks = self.chunks() if self.stream else None
            return None if chunks is None else [from_plain(chunk) for chunk in chunks]
        if wire.status == 0:
            return None
        read = parsed_stream if self.stream else parsed
        return read(self._data(), content_type(wire.headers))

    @_guarded
    def chunks(self) -> list[Any]:
        """The consumed chunks of a stream: bytes, or plain values of a function's stream."""
        self._line()
        chunks: list[Any] = []
        begun = b""
        for place in self._found.chunks:
            line = self._chunk(place)
            chunk = unpack_chunk(line)
            if isinstance(chunk, Value):
                chunks.append(chunk.plain)
            elif line.more:
                begun += chunk
            else:
                chunks.append(begun + chunk)
                begun = b""
        return [*chunks, begun] if begun else chunks

    def _data(self) -> bytes:
        if self.stream:
            return b"".join(chunk for chunk in self.chunks() if isinstance(chunk, bytes))
        body = self.body
        return b"" if body is None else body.data

    def _chunk(self, place: tuple[int, int]) -> ChunkLine:
        return msgspec.json.decode(self._parts.source.read(*place), type=ChunkLine)

    def _line(self) -> EventLine:
        found = self._found
        if found.damage is not None or found.place is None:
            raise TraceFormatError(f"{self.place} is damaged: {found.damage}")
        return msgspec.json.decode(self._parts.source.read(*found.place), type=EventLine)


class Trace:
    """A recorded run. Use `Trace.open` (lazy) or `Trace.load` (everything checked)."""

    __slots__ = ("_parts", "complete", "damage", "events", "header", "path", "unfinished")

    def __init__(self, source: Source, found: Scan) -> None:
        parts = _Parts(source, found)
        self._parts = parts
        self.path = source.path
        self.header: HeaderLine = found.header
        self.damage: list[Damage] = found.damage
        self.complete = found.end is not None
        self.events = [Event(found.events[seq], parts) for seq in sorted(found.events)]
        self.unfinished = [
            Started(seq=seq, kind=start.kind, name=start.name)
            for seq, start in sorted(found.starts.items())
            if seq not in found.events or not _ended(found.events[seq])
        ]

    @classmethod
    def open(cls, path: str | os.PathLike[str], strict_file: bool = False) -> Trace:
        """Open a trace, or the `.partial` of an unfinished run. Bodies are read on demand.

        Raises `TraceFormatError`; with `strict_file` also for a damaged line.
        """
        source = open_source(Path(path))
        trace = cls(source, scan(source))
        if strict_file and trace.damage:
            first = trace.damage[0]
            raise TraceFormatError(f"{source.path}: line {first.line}: {first.reason}")
        return trace

    @classmethod
    def load(cls, path: str | os.PathLike[str], strict_file: bool = False) -> Trace:
        """Open a trace and read every event once, so that damage shows at once."""
        trace = cls.open(path, strict_file)
        for event in trace.events:
            if event.damage is None:
                _ = event.request_plain, event.error, event.response
        return trace

    def dump(self, path: str | os.PathLike[str], *, compression: Compression | None = None) -> Path:
        """Write the lines as they are under another name, readable by its owner only."""
        return write_copy(self._parts.source, Path(path), compression)

    @property
    def meta(self) -> dict[str, Any]:
        """What the user put into the header."""
        return self.header.meta

    @property
    def version(self) -> int:
        """Version of the format."""
        return self.header.rewind

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __getitem__(self, index: int) -> Event:
        return self.events[index]

    def __repr__(self) -> str:
        return f"<Trace {self.path} of {len(self.events)} events>"


def _ended(found: Found) -> bool:
    return found.done is not None or not found.skeleton.stream or found.damage is not None
