"""The one JSON encoder and decoder.

Two encoders would spell the same number in two ways and give it two identities, so
every byte that is hashed or stored comes from here.
"""

from __future__ import annotations

import base64
import json
import math
from enum import Enum
from typing import Any, Final, Literal, cast

import msgspec

__all__ = [
    "MAX_DEPTH",
    "NOT_JSON",
    "NotJson",
    "Plain",
    "decode",
    "encode",
    "encode_sorted",
    "escape_dict",
    "parse_json",
    "tag_string",
]

Plain = Any
"""A JSON-able value; what JSON cannot say is a one-key dict `{"$tag": ...}`."""

MAX_DEPTH: Final = 100
"""Nesting that is kept as it is; deeper values are flattened, deeper bodies are opaque."""

_INT_DIGITS: Final = 19
_INT_MIN: Final = -(2**63)
_INT_MAX: Final = 2**63 - 1


class NotJson(Enum):
    """The type of `NOT_JSON`."""

    NOT_JSON = "not json"


NOT_JSON: Final = NotJson.NOT_JSON
"""What `parse_json` returns for a body that has no faithful plain form."""

_encoder = msgspec.json.Encoder()
_sorted_encoder = msgspec.json.Encoder(order="deterministic")
_decoder = msgspec.json.Decoder()


def encode(plain: Plain) -> bytes:
    """Return the JSON text of a plain value, members in their own order."""
    return _encoder.encode(plain)


def encode_sorted(plain: Plain) -> bytes:
    """Return the JSON text of a plain value, members sorted by name."""
    return _sorted_encoder.encode(plain)


def decode(data: bytes) -> Plain:
    """Return the plain value of a JSON text that `encode` made."""
    return _decoder.decode(data)


def tag_string(text: str) -> Plain:
    """Return the text, or its tagged form if it holds lone surrogates."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "surrogatepass")
        return {"$surrogates": base64.b64encode(raw).decode("ascii")}
    return text


def tag_int(number: int) -> Plain:
    """Return the integer, or its tagged form beyond 64 bits."""
    if _INT_MIN <= number <= _INT_MAX:
        return number
    try:
        return {"$int": str(number)}
    except ValueError:  # more digits than the interpreter converts
        return {"$int": hex(number)}


def tag_float(number: float) -> Plain:
    """Return the float, or its tagged form if it is not finite."""
    if math.isfinite(number):
        return number
    name = "nan" if math.isnan(number) else ("inf" if number > 0 else "-inf")
    return {"$float": name}


def escape_dict(value: dict[str, Plain]) -> Plain:
    """Escape a user's dict that would read as a tag."""
    if len(value) == 1 and next(iter(value)).startswith("$"):
        return {"$dict": value}
    return value


class _Refused(ValueError):
    """The text is JSON, but has no single meaning."""


def _pairs(pairs: list[tuple[str, Any]]) -> Plain:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _Refused("duplicate key")
    return escape_dict(result) if len(pairs) == 1 else result


def _int(text: str) -> Plain:
    if len(text) < _INT_DIGITS:
        return int(text)
    digits = text[1:] if text[0] == "-" else text
    if len(digits) > _INT_DIGITS:
        return {"$int": text}
    return tag_int(int(text))


def _float(text: str) -> Plain:
    number = float(text)
    if math.isinf(number):
        raise _Refused("number beyond the range of a float")
    return number


_CONSTANTS: Final = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}


def _constant(text: str) -> Plain:
    return {"$float": _CONSTANTS[text]}


_body_decoder = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_int=_int, parse_float=_float, parse_constant=_constant
)


def parse_json(body: bytes) -> Plain | Literal[NotJson.NOT_JSON]:
    """Return the plain value of a JSON body that somebody else wrote.

    `NOT_JSON` stands for invalid text, duplicate keys, numbers beyond a float and
    nesting beyond `MAX_DEPTH`: such a body is compared as bytes.
    """
    try:
        value = _body_decoder.decode(body.decode())
    except (ValueError, RecursionError):
        return NOT_JSON
    if body.count(b"{") + body.count(b"[") >= MAX_DEPTH and _too_deep(value):
        return NOT_JSON
    if b"\\u" in body:
        return _tag_surrogates(value)
    return value


def _too_deep(value: Plain) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in _children(node)]
        if not level:
            return False
    return True


def _children(node: Plain) -> list[Plain]:
    if type(node) is dict:
        return list(cast("dict[str, Plain]", node).values())
    if type(node) is list:
        return cast("list[Plain]", node)
    return []


def _tag_surrogates(value: Plain) -> Plain:
    if type(value) is str:
        return tag_string(value)
    if type(value) is list:
        return [_tag_surrogates(item) for item in cast("list[Plain]", value)]
    if type(value) is dict:
        members = cast("dict[str, Plain]", value)
        keys = [tag_string(key) for key in members]
        values = [_tag_surrogates(item) for item in members.values()]
        if all(type(key) is str for key in keys):
            return dict(zip(keys, values))
        return {"$map": [list(pair) for pair in zip(keys, values)]}
    return value
