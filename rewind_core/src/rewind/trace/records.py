"""What stands in a trace: the records that are written, and the lines they become."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..canonical import Plain, decode, encode

__all__ = [
    "UNSET",
    "Body",
    "BodyForm",
    "ChunkLine",
    "DoneLine",
    "EndLine",
    "EventLine",
    "EventRecord",
    "HeadLine",
    "HeaderLine",
    "StartLine",
    "Unset",
    "Value",
    "WireRecord",
    "chunk_line",
    "pack_body",
    "unpack_body",
    "unpack_chunk",
]

UNSET = msgspec.UNSET
"""Stands for an outcome that is not there; `None` is a value."""

Unset = msgspec.UnsetType


@dataclass(slots=True, kw_only=True)
class Body:
    """A decoded wire body; `split` holds the offsets where its network chunks ended."""

    data: bytes = b""
    split: tuple[int, ...] = ()


@dataclass(slots=True, kw_only=True)
class WireRecord:
    """The two heads of an HTTP exchange, already masked; `status` 0 means no response."""

    method: str
    url: str
    request_headers: list[tuple[str, str]]
    status: int = 0
    reason: str = ""
    http_version: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


@dataclass(slots=True, kw_only=True)
class Value:
    """A chunk of a stream that is a value rather than bytes."""

    plain: Plain


@dataclass(slots=True, kw_only=True)
class EventRecord:
    """One event to be written. All values are plain and masked.

    `ticks` are the positions of its start and its end in one count of starts and ends,
    `time` is its start in seconds since the epoch, `ms` its duration. The outcome is
    one of `wire` (with `body` unless `stream`), `value` or `error`.
    """

    seq: int
    kind: str
    name: str
    ring: str
    id: str
    request: dict[str, Plain]
    after: int | None = None
    parent: int | None = None
    branch: list[int] = field(default_factory=list[int])
    ticks: tuple[int, int] = (0, 0)
    time: float = 0.0
    ms: float = 0.0
    upstream: str | None = None
    attempt: int = 0
    meta: dict[str, Plain] = field(default_factory=dict[str, Any])
    opaque_request: bytes | None = None
    wire: WireRecord | None = None
    body: Body | None = None
    value: Plain | Unset = UNSET
    error: dict[str, Plain] | None = None
    stream: bool = False


class _Line(msgspec.Struct, kw_only=True, omit_defaults=True):
    pass


class HeaderLine(_Line):
    """First line of a file."""

    rewind: int
    id: str = ""
    created: float = 0.0
    mode: str = "record"
    forked_from: Any = None
    meta: dict[str, Any] = {}


class StartLine(_Line):
    """A call has begun."""

    start: int
    kind: str = ""
    name: str = ""


class BodyForm(_Line):
    """How a body stands in a line: exactly one of `json`, `text`, `base64`."""

    json: msgspec.Raw | Unset = UNSET
    text: str | Unset = UNSET
    base64: str | Unset = UNSET
    split: list[int] = []


class HeadLine(_Line):
    """The two heads of an HTTP exchange, which events refer to; may stand twice."""

    head: int
    method: str = ""
    url: str = ""
    request_headers: list[tuple[str, str]] = []
    status: int = 0
    reason: str = ""
    http_version: str = ""
    headers: list[tuple[str, str]] = []


class EventLine(_Line):
    """An event; the large members stay unparsed until they are asked for.

    With `head` it is an HTTP exchange with the heads of that line, but for the values of
    `request_headers` and `headers` at these positions.
    """

    event: int
    kind: str
    name: str
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
    meta: dict[str, Any] = {}
    request: msgspec.Raw = msgspec.Raw(b"{}")
    opaque: msgspec.Raw | Unset = UNSET
    head: int | None = None
    request_headers: list[tuple[int, str]] = []
    headers: list[tuple[int, str]] = []
    body: msgspec.Raw | Unset = UNSET
    value: msgspec.Raw | Unset = UNSET
    error: msgspec.Raw | Unset = UNSET


class ChunkLine(_Line):
    """One consumed chunk: exactly one of the four forms. With `more` the next line continues it."""

    chunk: int
    text: str | Unset = UNSET
    base64: str | Unset = UNSET
    parts: list[msgspec.Raw] | Unset = UNSET
    value: msgspec.Raw | Unset = UNSET
    more: bool = False


class DoneLine(_Line):
    """A stream has ended."""

    done: int
    ms: float = 0.0
    tick: int = 0
    chunks: int = 0
    truncated: str | None = None
    error: dict[str, Any] | None = None
    returned: Any = None


class EndLine(_Line):
    """The run has ended; `end` is the number of events."""

    end: int


def _json_raw(data: bytes) -> msgspec.Raw | None:
    """The bytes as they are if they can stand in a line as JSON, else None."""
    if data[:1] not in (b"{", b"[") or data[-1:] not in (b"}", b"]"):
        return None
    if b"\n" in data or b"\r" in data:
        return None
    try:
        decode(data)
        data.decode()
    except (ValueError, RecursionError):
        return None
    return msgspec.Raw(data)


def pack_body(data: bytes, split: tuple[int, ...] = ()) -> BodyForm:
    """Return the form in which a body is stored: verbatim JSON, text, or base64."""
    raw = _json_raw(data)
    if raw is not None:
        return BodyForm(json=raw, split=list(split))
    try:
        return BodyForm(text=data.decode(), split=list(split))
    except UnicodeDecodeError:
        return BodyForm(base64=base64.b64encode(data).decode("ascii"), split=list(split))


def unpack_body(raw: msgspec.Raw) -> Body:
    """Return the body of a stored form."""
    form = msgspec.json.decode(raw, type=BodyForm)
    return Body(data=_bytes_of(form), split=tuple(form.split))


def _bytes_of(form: BodyForm | ChunkLine) -> bytes:
    if isinstance(form, BodyForm) and form.json is not UNSET:
        return bytes(form.json)
    if form.text is not UNSET:
        return form.text.encode()
    if form.base64 is not UNSET:
        try:
            return base64.b64decode(form.base64, validate=True)
        except binascii.Error as error:
            raise ValueError(str(error)) from error
    raise ValueError("a body without json, text or base64")


_DATA_LINE = re.compile(rb"^data: ?([{\[][^\n\r]*[}\]])$", re.MULTILINE)


def chunk_line(seq: int, data: bytes | Value, *, more: bool = False) -> bytes:
    """Return the encoded line of a chunk, `data:` payloads standing as JSON."""
    if isinstance(data, Value):
        return encode(ChunkLine(chunk=seq, value=msgspec.Raw(encode(data.plain))))
    try:
        text = data.decode()
    except UnicodeDecodeError:
        encoded = base64.b64encode(data).decode("ascii")
        return encode(ChunkLine(chunk=seq, base64=encoded, more=more))
    parts: list[msgspec.Raw] = []
    position = 0
    for found in _DATA_LINE.finditer(data):
        raw = _json_raw(found[1])
        if raw is None:
            continue
        parts.append(msgspec.Raw(encode(data[position : found.start(1)].decode())))
        parts.append(raw)
        position = found.end(1)
    if not parts:
        return encode(ChunkLine(chunk=seq, text=text, more=more))
    if position < len(data):
        parts.append(msgspec.Raw(encode(data[position:].decode())))
    return encode(ChunkLine(chunk=seq, parts=parts, more=more))


def unpack_chunk(line: ChunkLine) -> bytes | Value:
    """Return the chunk that stands in a line."""
    if line.value is not UNSET:
        return Value(plain=decode(bytes(line.value)))
    if line.parts is UNSET:
        return _bytes_of(line)
    pieces: list[bytes] = []
    for part in line.parts:
        raw = bytes(part)
        pieces.append(decode(raw).encode() if raw[:1] == b'"' else raw)
    return b"".join(pieces)
