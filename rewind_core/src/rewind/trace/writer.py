"""Writes a trace line by line while the run goes on.

The file is `NAME.partial` until the run has ended, so that a crash loses neither what
was recorded nor the older trace of that name.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from ..canonical import Chains, Plain, encode
from ..errors import RecordingWarning, SessionError, TraceFormatError
from .fold import Folder, body_outcome
from .heads import Heads
from .lines import seal
from .records import (
    UNSET,
    DoneLine,
    EndLine,
    EventLine,
    EventRecord,
    HeaderLine,
    StartLine,
    Unset,
    Value,
    chunk_line,
    pack_body,
)

__all__ = ["VERSION", "TraceWriter"]

VERSION = 1


class TraceWriter:
    """Appends to `NAME.partial`; `close` gives the file its name.

    Whoever identifies the requests before they are written can share its `chains`, so that a
    growing history is hashed once.

    Raises `SessionError` if another live writer has the path, `TraceFormatError` if the
    place cannot be written. After a failed write (`broken`) everything is a no-op, said
    once by a `RecordingWarning`; so it is in a forked child. Not thread-safe: used under
    the session's lock.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        mode: str = "record",
        meta: dict[str, Plain] | None = None,
        forked_from: Plain = None,
        created: float | None = None,
    ) -> None:
        self.path = Path(path)
        self.id = uuid.uuid4().hex
        self.broken: OSError | None = None
        self.chains = Chains()
        self._folder = Folder(self.chains)
        self._heads = Heads(lambda line: self._write(lambda: encode(line)))
        self._closed = False
        self._torn = False
        self._pid = os.getpid()
        self.partial, self._fd = _open_partial(self.path)
        header = HeaderLine(
            rewind=VERSION,
            id=self.id,
            created=time.time() if created is None else created,
            mode=mode,
            forked_from=forked_from,
            meta=meta or {},
        )
        self._write(lambda: encode(header))

    def start(self, seq: int, kind: str, name: str) -> None:
        """Note that a call has begun."""
        self._write(lambda: encode(StartLine(start=seq, kind=kind, name=name)))

    def event(self, rec: EventRecord) -> None:
        """Write an event that has ended, or the head of a stream."""
        self._write(lambda: self._encode_event(rec))

    def _encode_event(self, rec: EventRecord) -> bytes:
        try:
            return encode(self._event_line(rec))
        except BaseException:
            self._folder = Folder(self.chains)  # nothing may refer to a line that is not written
            raise

    def chunk(self, seq: int, data: bytes | Value, *, more: bool = False) -> None:
        """Write a consumed chunk of a stream, or with `more` the beginning of one."""
        self._write(lambda: chunk_line(seq, data, more=more))

    def done(
        self,
        seq: int,
        *,
        ms: float,
        tick: int,
        chunks: int,
        truncated: str | None = None,
        error: dict[str, Plain] | None = None,
        returned: Plain = None,
    ) -> None:
        """Note that a stream has ended; `truncated` says why it was left early."""
        line = DoneLine(
            done=seq, ms=ms, tick=tick, chunks=chunks, truncated=truncated, error=error,
            returned=returned,
        )  # fmt: skip
        self._write(lambda: encode(line))

    def close(self, events: int) -> Path:
        """Write the end mark, give the file its name and return where the trace is."""
        if self._closed or self._pid != os.getpid():
            return self.partial if self.broken or not self._closed else self.path
        if self.broken is None:
            self._heads.repeat()
        self._write(lambda: encode(EndLine(end=events)))
        self._closed = True
        try:
            if self.broken is None:
                os.replace(self.partial, self.path)
        except OSError as error:
            self._fail(error)
        finally:
            with contextlib.suppress(OSError):
                os.close(self._fd)
        return self.partial if self.broken else self.path

    def _write(self, make: Callable[[], bytes]) -> None:
        if self.broken is not None or self._closed or self._pid != os.getpid():
            return  # a forked child shares the file, but the run is its parent's
        line = seal(make())
        if self.broken is not None:  # by the head line that this one made necessary
            return
        if self._torn:  # an exception cut the last line short
            line = b"\n" + line
        self._torn = True
        try:
            _write_all(self._fd, line)
        except OSError as error:
            self._fail(error)
        self._torn = False

    def _fail(self, error: OSError) -> None:
        self.broken = error
        text = f"recording to {self.path} stopped: {error}; what was recorded is in {self.partial}"
        with contextlib.suppress(RecordingWarning):  # also under -W error the agent goes on
            warnings.warn(text, RecordingWarning, stacklevel=2)

    def _event_line(self, rec: EventRecord) -> EventLine:
        body = None if rec.body is None else pack_body(rec.body.data, rec.body.split)
        outcome = None if rec.value is UNSET else rec.value
        if body is not None and body.json is not UNSET:
            outcome = body_outcome(bytes(body.json))
        head, sent, received = (None, [], []) if rec.wire is None else self._heads.refer(rec.wire)
        return EventLine(
            event=rec.seq,
            kind=rec.kind,
            name=rec.name,
            ring=rec.ring,
            id=rec.id,
            after=rec.after,
            parent=rec.parent,
            branch=rec.branch,
            ticks=rec.ticks,
            time=rec.time,
            ms=rec.ms,
            upstream=rec.upstream,
            attempt=rec.attempt,
            stream=rec.stream,
            meta=rec.meta,
            request=_raw(self._folder.fold(rec.seq, rec.request, outcome)),
            opaque=UNSET if rec.opaque_request is None else _raw(pack_body(rec.opaque_request)),
            head=head,
            request_headers=sent,
            headers=received,
            body=UNSET if body is None else _raw(body),
            value=_raw_or_unset(rec.value),
            error=UNSET if rec.error is None else _raw(rec.error),
        )


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(encode(value))


def _raw_or_unset(value: Plain | Unset) -> msgspec.Raw | Unset:
    return UNSET if value is UNSET else _raw(value)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def partial_names(path: Path) -> list[Path]:
    """Return the names a running recording of `path` may have, that exist, oldest first."""
    found: list[Path] = []
    index = 0
    while True:
        name = _partial_name(path, index)
        if not name.exists():
            return found
        found.append(name)
        index += 1


def _partial_name(path: Path, index: int) -> Path:
    middle = f".{index}" if index else ""
    return path.with_name(f"{path.name}{middle}.partial")


def _open_partial(path: Path) -> tuple[Path, int]:
    try:
        if path.is_dir():
            raise TraceFormatError(f"{path}: is a directory, not a place for a trace")
        if path.exists() and not path.is_file():
            raise TraceFormatError(f"{path}: is a device or a pipe, not a place for a trace")
        path.parent.mkdir(parents=True, exist_ok=True)
        for index in range(10_000):
            name = _partial_name(path, index)
            try:
                fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
            except FileExistsError:
                if _is_locked(name):
                    raise SessionError(f"{path}: is being recorded by another session") from None
                continue
            _lock(fd, wait=True)  # others hold it only while they probe
            return name, fd
    except OSError as error:
        raise TraceFormatError(f"{path}: cannot be written: {error.strerror}") from error
    raise TraceFormatError(f"{path}: too many leftover .partial files beside it")


def _lock(fd: int, *, wait: bool) -> bool:
    try:
        import fcntl
    except ImportError:  # no advisory locks on this platform
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_locked(name: Path) -> bool:
    try:
        fd = os.open(name, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _lock(fd, wait=False)
    finally:
        os.close(fd)
