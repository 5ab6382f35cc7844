"""From plain data back to Python values.

A trace is untrusted input: classes are only looked up among modules that the program
has imported itself, must be data classes of a known sort, and are filled without
running their constructors.
"""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import pathlib
import sys
import uuid
import zoneinfo
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from enum import Enum
from typing import Any, cast

from .codec import Plain

__all__ = ["from_plain"]


def from_plain(plain: Plain) -> Any:
    """Return the value that `to_plain` described, as freshly made containers.

    What is not a well-formed tag, or names a class that is not imported, stays data:
    an object becomes the dict of its fields, a `$repr` its text.
    """
    if type(plain) is dict and len(plain) == 1 and "$deep" in plain:
        nodes = plain["$deep"]
        if isinstance(nodes, list):
            return _revive_deep(cast("list[Plain]", nodes))
    return _revive(plain, {})


def _revive_deep(nodes: list[Plain]) -> Any:
    done: dict[int, Any] = {}
    for index in range(len(nodes) - 1, -1, -1):  # a node only names later ones
        done[index] = _revive(nodes[index], done)
    return done[0] if nodes else None


def _revive(plain: Plain, nodes: dict[int, Any]) -> Any:
    if type(plain) is list:
        return [_revive(item, nodes) for item in cast("list[Plain]", plain)]
    if type(plain) is not dict:
        return plain
    members = cast("dict[str, Plain]", plain)
    if len(members) == 1:
        tag, body = next(iter(members.items()))
        if tag == "$node":
            return nodes.get(body) if type(body) is int else None
        revive = _TAGS.get(tag)
        if revive is not None:
            try:
                return revive(body, nodes)
            except (ValueError, TypeError, ArithmeticError, AttributeError, IndexError):
                return members
    return {key: _revive(item, nodes) for key, item in members.items()}


def _dict(body: Plain, nodes: dict[int, Any]) -> Any:
    return {key: _revive(item, nodes) for key, item in body.items()}


def _list(body: Plain, nodes: dict[int, Any]) -> list[Any]:
    return [_revive(item, nodes) for item in body]


def _map(body: Plain, nodes: dict[int, Any]) -> Any:
    return {_revive(key, nodes): _revive(item, nodes) for key, item in body}


def _datetime(body: Plain, _: dict[int, Any]) -> dt.datetime:
    if type(body) is str:
        return dt.datetime.fromisoformat(body)
    text, zone, fold = body
    value = dt.datetime.fromisoformat(text).replace(fold=fold)
    if zone is None:
        return value
    try:
        return value.replace(tzinfo=zoneinfo.ZoneInfo(zone))
    except zoneinfo.ZoneInfoNotFoundError:  # its offset is all that is known here
        return value


def _ordered(body: Plain, nodes: dict[int, Any]) -> Any:
    return OrderedDict(_map(body, nodes))


def _counter(body: Plain, nodes: dict[int, Any]) -> Any:
    return Counter(_map(body, nodes))


def _defaultdict(body: Plain, nodes: dict[int, Any]) -> Any:
    factory = None if body[0] is None else find_class(body[0])
    return defaultdict(factory, _map(body[1], nodes))


def _numpy(body: Plain, _: dict[int, Any]) -> Any:
    """An array or scalar, if the program has imported numpy; else the tag stays data."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None:
        raise ValueError("numpy is not imported")
    kind, shape, data = body
    flat = numpy.frombuffer(base64.b64decode(data), dtype=numpy.dtype(kind))
    return flat[0] if shape is None else flat.reshape(shape).copy()


def _int(body: str, _: dict[int, Any]) -> int:
    if "0x" in body:
        return int(body, 16)
    if len(body) <= 4300:
        return int(body)
    return int(decimal.Decimal(body))  # beyond the interpreter's digit limit


def _enum(body: Plain, nodes: dict[int, Any]) -> Any:
    value = _revive(body[1], nodes)
    cls = find_class(body[0])
    if cls is None or not issubclass(cls, Enum):
        return value
    return cls(value)


def _object(body: Plain, nodes: dict[int, Any]) -> Any:
    fields = _revive(body[1], nodes)
    cls = find_class(body[0])
    if cls is None:
        return fields
    unset = frozenset(body[2]) if len(body) > 2 else frozenset[str]()
    return _build(cast("Any", cls), fields, unset)


def _build(cls: Any, fields: dict[str, Any], unset: frozenset[str]) -> Any:
    if hasattr(cls, "__pydantic_fields__"):
        made = cls.model_construct(**fields)
        object.__setattr__(made, "__pydantic_fields_set__", set(fields) - unset)
        return made
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        named = cast("Any", cls)
        return named._make([fields[name] for name in named._fields])
    known = ("__dataclass_fields__", "__attrs_attrs__", "__struct_fields__")
    if not any(hasattr(cls, mark) for mark in known):
        return fields
    made = cls.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def find_class(name: str) -> type | None:
    """Return the class called `module:qualname` if its module is imported, else None."""
    module_name, _, qualname = name.partition(":")
    found: Any = sys.modules.get(module_name)
    for part in qualname.split("."):
        if found is None:
            return None
        found = vars(found).get(part)
    return found if isinstance(found, type) else None


_TAGS: dict[str, Callable[[Any, dict[int, Any]], Any]] = {
    "$bytearray": lambda b, _: bytearray(base64.b64decode(b)),
    "$bytes": lambda b, _: base64.b64decode(b),
    "$counter": _counter,
    "$defaultdict": _defaultdict,
    "$numpy": _numpy,
    "$ordered": _ordered,
    "$complex": lambda b, n: complex(*_list(b, n)),
    "$date": lambda b, _: dt.date.fromisoformat(b),
    "$datetime": _datetime,
    "$decimal": lambda b, _: decimal.Decimal(b),
    "$deque": lambda b, n: deque(_list(b, n)),
    "$dict": _dict,
    "$enum": _enum,
    "$float": lambda b, _: float(b),
    "$frozenset": lambda b, n: frozenset(_list(b, n)),
    "$int": _int,
    "$map": _map,
    "$object": _object,
    "$path": lambda b, n: pathlib.Path(_revive(b, n)),
    "$repr": lambda b, n: _revive(b, n),
    "$set": lambda b, n: set(_list(b, n)),
    "$surrogates": lambda b, _: base64.b64decode(b).decode("utf-8", "surrogatepass"),
    "$time": lambda b, _: dt.time.fromisoformat(b),
    "$timedelta": lambda b, _: dt.timedelta(*b),
    "$tuple": lambda b, n: tuple(_list(b, n)),
    "$uuid": lambda b, _: uuid.UUID(b),
}
