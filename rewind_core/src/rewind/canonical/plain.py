"""From any Python value to plain data, without loss where the type is known.

Recording must never disturb the program, so nothing here raises: a value that cannot
be described becomes its `repr`, and the caller is told.
"""

from __future__ import annotations

import base64
import contextlib
import datetime as dt
import decimal
import pathlib
import re
import uuid
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, cast

from .codec import MAX_DEPTH, Plain, encode_sorted, escape_dict, tag_float, tag_int, tag_string

__all__ = ["to_plain"]

Lossy = Callable[[object], None]

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+|\b0x[0-9a-fA-F]{8,16}\b")
_FLAT_DEPTH = MAX_DEPTH // 3
"""Containers kept nested; one container may take three levels of plain data."""


def to_plain(value: object, *, lossy: Lossy | None = None) -> Plain:
    """Return the plain form of any value; never raises.

    `lossy` is called with each value that only its `repr` describes.
    """
    converter = _Converter(lossy)
    root = converter.run(value, 0)
    if not converter.deep:
        return root
    nodes = [root]
    for node in converter.deep:  # grows while it is walked
        converter.active.clear()
        nodes.append(converter.run(node, 0))
    return {"$deep": nodes}


def class_name(cls: type) -> str:
    """Return `module:qualname`, the spelling used in traces."""
    return f"{cls.__module__}:{cls.__qualname__}"


def _b64(data: Any) -> str:
    return base64.b64encode(data).decode("ascii")


def _datetime(value: dt.datetime) -> Plain:
    """ISO text, which knows the offset; with the zone's name and the fold where there are such."""
    zone = value.tzinfo.key if isinstance(value.tzinfo, zoneinfo.ZoneInfo) else None
    if zone is None and not value.fold:
        return {"$datetime": value.isoformat()}
    return {"$datetime": [value.isoformat(), zone, value.fold]}


_EXACT: dict[type, Callable[[Any], Plain]] = {
    bytes: lambda v: {"$bytes": _b64(v)},
    bytearray: lambda v: {"$bytearray": _b64(v)},
    dt.datetime: _datetime,
    dt.date: lambda v: {"$date": v.isoformat()},
    dt.time: lambda v: {"$time": v.isoformat()},
    dt.timedelta: lambda v: {"$timedelta": [v.days, v.seconds, v.microseconds]},
    uuid.UUID: lambda v: {"$uuid": str(v)},
    decimal.Decimal: lambda v: {"$decimal": str(v)},
    complex: lambda v: {"$complex": [tag_float(v.real), tag_float(v.imag)]},
}


class _Converter:
    """One conversion: the containers being walked, and those put off for depth."""

    __slots__ = ("active", "deep", "lossy", "seen_deep")

    def __init__(self, lossy: Lossy | None) -> None:
        self.lossy = lossy
        self.active: set[int] = set()
        self.deep: list[object] = []
        self.seen_deep: dict[int, int] = {}

    def run(self, value: object, depth: int) -> Plain:
        try:
            return self.convert(value, depth)
        except RecursionError:
            return self.as_repr(value)

    def convert(self, value: Any, depth: int) -> Plain:
        kind = type(value)
        if kind is str:
            return tag_string(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            return tag_int(value)
        if kind is float:
            return tag_float(value)
        exact = _EXACT.get(kind)
        if exact is not None:
            return exact(value)
        try:
            if kind is dict:
                return self.container(value, self.mapping, depth)
            if kind is list:
                return self.container(value, self.items, depth)
            return self.convert_other(value, depth)
        except RecursionError:
            raise
        except Exception:  # noqa: BLE001 - a foreign property or iterator failed
            return self.as_repr(value)

    def convert_other(self, value: Any, depth: int) -> Plain:
        if isinstance(value, Enum):
            return {"$enum": [class_name(type(value)), self.convert(value.value, depth + 1)]}
        if type(value).__module__ == "numpy":
            return self.numpy(value)
        if isinstance(value, memoryview):
            self.lose_type(value, ())
            return {"$bytes": _b64(value.tobytes())}
        scalar = _scalar(value)
        if scalar is not None:
            self.lose_type(value, _SCALARS)
            return scalar
        build = self.builder(value)
        return self.as_repr(value) if build is None else self.container(value, build, depth)

    def container(self, value: Any, build: Callable[[Any, int], Plain], depth: int) -> Plain:
        mark = id(value)
        if mark in self.active:
            return self.as_repr(value, "<cycle>")
        if depth >= _FLAT_DEPTH:
            return self.put_off(value)
        self.active.add(mark)
        try:
            return build(value, depth + 1)
        finally:
            self.active.discard(mark)

    def put_off(self, value: object) -> Plain:
        index = self.seen_deep.get(id(value))
        if index is not None:
            return self.as_repr(value, "<cycle>")
        self.deep.append(value)
        self.seen_deep[id(value)] = len(self.deep)
        return {"$node": len(self.deep)}

    def builder(self, value: Any) -> Callable[[Any, int], Plain] | None:
        if isinstance(value, dict):
            return self.dictionary
        if isinstance(value, list):
            self.lose_type(value, (list,))
            return self.items
        fields = _object_fields(value)
        if fields is not None:
            return self.fields
        for base, tag in _TAGGED_LISTS:
            if isinstance(value, base):
                self.lose_type(value, (base,))
                return lambda v, depth: self.tagged(tag, v, depth)
        return None

    def items(self, value: Iterable[Any], depth: int) -> list[Plain]:
        return [self.convert(item, depth) for item in list(value)]

    def tagged(self, tag: str, value: Iterable[Any], depth: int) -> Plain:
        items = self.items(value, depth)
        if tag in ("$set", "$frozenset"):
            items.sort(key=encode_sorted)
        return {tag: items}

    def mapping(self, value: dict[Any, Any], depth: int) -> Plain:
        pairs = list(value.items())
        for key, _ in pairs:
            if type(key) is not str or not (key.isascii() or _is_unicode(key)):
                return {
                    "$map": [[self.convert(k, depth), self.convert(v, depth)] for k, v in pairs]
                }
        return escape_dict({key: self.convert(item, depth) for key, item in pairs})

    def dictionary(self, value: dict[Any, Any], depth: int) -> Plain:
        """A dict of a type of its own: three of the standard library keep it."""
        tag = _DICTIONARIES.get(type(value))
        if tag is None:
            self.lose_type(value, ())
            return self.mapping(value, depth)
        pairs = [[self.convert(k, depth), self.convert(v, depth)] for k, v in list(value.items())]
        if tag != "$defaultdict":
            return {tag: pairs}
        factory = cast("defaultdict[Any, Any]", value).default_factory
        if factory is not None and not isinstance(factory, type):
            self.lose_type(value, ())
            factory = None
        return {tag: [None if factory is None else class_name(factory), pairs]}

    def numpy(self, value: Any) -> Plain:
        """An array or a scalar of numpy: element type, shape (none of a scalar), bytes."""
        dtype = getattr(value, "dtype", None)
        if dtype is None or dtype.hasobject or dtype.names is not None:
            return self.as_repr(value)
        shape = list(value.shape) if type(value).__name__ == "ndarray" else None
        return {"$numpy": [dtype.str, shape, _b64(value.tobytes())]}

    def lose_type(self, value: Any, kept: tuple[type, ...]) -> None:
        """Tell of a value whose own type is not kept."""
        if self.lossy is not None and type(value) not in kept:
            with contextlib.suppress(Exception):
                self.lossy(value)

    def fields(self, value: Any, depth: int) -> Plain:
        found = _object_fields(value)
        assert found is not None
        names, unset = found
        members = self.mapping(names, depth)
        body: list[Plain] = [class_name(type(value)), members]
        if unset:
            body.append(sorted(unset))
        return {"$object": body}

    def as_repr(self, value: object, text: str | None = None) -> Plain:
        if self.lossy is not None:
            with contextlib.suppress(Exception):
                self.lossy(value)
        if text is None:
            try:
                text = _ADDRESS.sub("", repr(value))
            except BaseException as error:  # a repr of foreign code may raise anything
                if isinstance(error, (KeyboardInterrupt, SystemExit)):
                    raise
                text = f"<{class_name(type(value))}>"
        return {"$repr": tag_string(text)}


_TAGGED_LISTS: tuple[tuple[type, str], ...] = (
    (tuple, "$tuple"),
    (frozenset, "$frozenset"),
    (set, "$set"),
    (deque, "$deque"),
)


_DICTIONARIES: dict[type, str] = {
    OrderedDict: "$ordered",
    Counter: "$counter",
    defaultdict: "$defaultdict",
}
_SCALARS: tuple[type, ...] = (pathlib.PosixPath, pathlib.WindowsPath)


def _is_unicode(text: str) -> bool:
    return type(tag_string(text)) is str


def _scalar(value: Any) -> Plain:
    """Plain form of a subclass of a scalar type; None if it is not one."""
    if isinstance(value, str):
        return tag_string(str.__str__(value))
    if isinstance(value, int):
        return tag_int(int.__int__(value))
    if isinstance(value, float):
        return tag_float(float.__float__(value))
    if isinstance(value, pathlib.PurePath):
        return {"$path": tag_string(str(value))}
    for base in (dt.datetime, dt.date, dt.time, dt.timedelta, bytes, bytearray):
        if isinstance(value, base):
            return _EXACT[base](value)
    return None


def _object_fields(value: Any) -> tuple[dict[Any, Any], frozenset[str]] | None:
    """Fields of a data object and those left at their default; None for other objects."""
    cls: Any = type(value)
    none: frozenset[str] = frozenset()
    if hasattr(cls, "__pydantic_fields__"):
        fields = {name: getattr(value, name) for name in cls.__pydantic_fields__}
        unset = frozenset(fields) - set(value.model_fields_set)
        fields.update(getattr(value, "__pydantic_extra__", None) or {})
        return fields, unset
    if hasattr(cls, "__dataclass_fields__"):
        names: Iterable[str] = cls.__dataclass_fields__
        return {n: getattr(value, n) for n in names if hasattr(value, n)}, none
    if hasattr(cls, "__attrs_attrs__"):
        return {a.name: getattr(value, a.name) for a in cls.__attrs_attrs__}, none
    if isinstance(value, tuple) and hasattr(cls, "_fields"):
        return dict(zip(cast("Any", value)._fields, value)), none
    if hasattr(cls, "__struct_fields__"):
        return {n: getattr(value, n) for n in cls.__struct_fields__}, none
    return None
