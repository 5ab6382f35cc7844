"""Python results as recorded outcomes: values, exceptions, generators."""

from __future__ import annotations

from .conversion import AS_IS, Conversion, ValueCodec, say_lossy
from .errors import dump_error, find_error_class, revive_error
from .streams import AsyncStreamCodec, Source, StreamCodec, async_driver, drive

__all__ = [
    "AS_IS",
    "AsyncStreamCodec",
    "Conversion",
    "Source",
    "StreamCodec",
    "ValueCodec",
    "async_driver",
    "drive",
    "dump_error",
    "find_error_class",
    "revive_error",
    "say_lossy",
]
