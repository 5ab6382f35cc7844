"""Compressed traces: unpacked beside the program when opened, packed when archived."""

from __future__ import annotations

import contextlib
import gzip
import importlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal

from ..errors import TraceFormatError

if TYPE_CHECKING:
    from .reader import Source

__all__ = ["Compression", "unpacked", "write_copy"]

Compression = Literal["gzip", "zstd"]

_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"


def unpacked(path: Path, fd: int) -> int:
    """Return the descriptor itself, or one of an unnamed file that holds it unpacked."""
    with os.fdopen(os.dup(fd), "rb") as packed:
        magic = packed.read(4)
        packed.seek(0)
        if magic[:2] == _GZIP:
            return _unpack(path, fd, gzip.GzipFile(fileobj=packed))
        if magic == _ZSTD:
            return _unpack(path, fd, _zstd(path).ZstdDecompressor().stream_reader(packed))
    return fd


def _unpack(path: Path, fd: int, reader: Any) -> int:
    with tempfile.TemporaryFile() as plain:
        try:
            shutil.copyfileobj(reader, plain, 1 << 20)
        except Exception as error:  # each library has errors of its own
            raise TraceFormatError(f"{path}: cannot be unpacked: {error}") from error
        plain.flush()
        os.close(fd)
        return os.dup(plain.fileno())


def _zstd(path: Path) -> Any:
    try:
        return importlib.import_module("zstandard")
    except ImportError:
        raise TraceFormatError(
            f"{path}: needs zstandard; please install it: pip install 'rewind-core[zstd]'"
        ) from None


def write_copy(source: Source, target: Path, compression: Compression | None) -> Path:
    """Write the lines of a source to `target`, which appears only when it is whole."""
    fd, name = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".tmp")
    try:
        with os.fdopen(fd, "wb") as out, source.lines() as lines:
            with _packing(target, out, compression) as packed:
                shutil.copyfileobj(lines, packed, 1 << 20)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return target


def _packing(
    target: Path, out: IO[bytes], compression: Compression | None
) -> contextlib.AbstractContextManager[Any]:
    if compression == "gzip":
        return gzip.GzipFile(fileobj=out, mode="wb", mtime=0)
    if compression == "zstd":
        return _zstd(target).ZstdCompressor(level=10).stream_writer(out, closefd=False)
    return contextlib.nullcontext(out)
