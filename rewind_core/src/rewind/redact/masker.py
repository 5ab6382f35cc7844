"""Masking of requests, responses, errors and text, before anything is hashed or stored."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from operator import is_
from typing import Final, cast
from urllib.parse import unquote_plus

from ..canonical import NOT_JSON, Plain, PrefixMemo, encode, parse_json
from .known import SHORTEST, KnownSecrets
from .rules import (
    OPAQUE,
    SECRET,
    is_credential,
    is_credential_header,
    is_credential_parameter,
    may_hold_credential,
    may_hold_shape,
    shape_spans,
)
from .spans import Edit, apply_edits, merged, replace_spans

__all__ = ["Masker"]

_USERINFO: Final = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]*://)[^/?#@]*@")
_URL_HEADERS: Final = ("location", "content-location", "referer")
_MEMBER: Final = re.compile(r'"([A-Za-z0-9_-]{3,40})"\s*:\s*"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?$)')
_JSON_LINE: Final = re.compile(rb"^(?:data:[ \t]*)?([{\[].*)$", re.MULTILINE)


class Masker:
    """What one session knows to be a credential, and a memory of recent arrays.

    Threads may share it; a lost race only costs time.
    """

    def __init__(self) -> None:
        self.known = KnownSecrets()
        self._variables = -1
        self._generation = 0
        self._masks: dict[str, PrefixMemo[Plain]] = {}
        self._identities: dict[str, PrefixMemo[Plain]] = {}

    # -- learning ------------------------------------------------------------------------------

    def learn_environment(self) -> None:
        """Learn the credentials of the environment, again when it has grown."""
        if len(os.environ) != self._variables:
            self._variables = len(os.environ)
            self.known.learn_environment()

    def learn_request(self, headers: Iterable[tuple[str, str]], url: str) -> None:
        """Learn what an HTTP request authenticates with."""
        self.learn_environment()
        for name, value in headers:
            self.known.learn_header(name, value)
        self.known.learn_url(url)

    # -- text, headers and URLs ----------------------------------------------------------------

    def text(self, text: str) -> str:
        """Return the text without known credentials and unmistakable keys."""
        if len(text) < SHORTEST:
            return text
        if may_hold_shape(text):
            text = replace_spans(text, shape_spans(text), SECRET)
        return self.known.mask(text)

    def sent_headers(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return a request's headers with credentials replaced, names and order kept."""
        return [(name, self._header(name, value, sent=True)) for name, value in headers]

    def received_headers(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return a response's headers with credentials replaced, names and order kept."""
        return [(name, self._header(name, value, sent=False)) for name, value in headers]

    def _header(self, name: str, value: str, *, sent: bool) -> str:
        lower = name.lower()
        if lower == "set-cookie":  # its name and attributes belong to the client's jar
            pair, mark, attributes = value.partition(";")
            return pair.partition("=")[0] + f"={SECRET}" + mark + attributes
        if lower in _URL_HEADERS:
            return self.url(value)
        return SECRET if is_credential_header(name, value, sent=sent) else self.text(value)

    def url(self, url: str) -> str:
        """Return the URL with user info and credentials replaced."""
        if "@" in url:
            url = _USERINFO.sub(rf"\1{SECRET}@", url)
        front, hash_mark, fragment = url.partition("#")
        base, mark, query = front.partition("?")
        return self.text(base) + mark + self._query(query) + hash_mark + self._query(fragment)

    def _query(self, query: str) -> str:
        return "&".join(self._pair(pair) for pair in query.split("&")) if query else ""

    def _pair(self, pair: str) -> str:
        name, mark, value = pair.partition("=")
        if mark and value and is_credential_parameter(unquote_plus(name), value):
            return f"{name}={SECRET}"
        return self.text(pair)

    # -- plain values --------------------------------------------------------------------------

    def plain(self, plain: Plain) -> Plain:
        """Return the plain value with credentials replaced; the same object if there are none."""
        if type(plain) is str:
            return self.text(plain)
        if type(plain) is list:
            return self._list(cast("list[Plain]", plain), self.plain)
        if type(plain) is dict:
            return self._dict(cast("dict[str, Plain]", plain))
        return plain

    def _list(self, items: list[Plain], function: Callable[[Plain], Plain]) -> list[Plain]:
        masked = [function(item) for item in items]
        return masked if any(a is not b for a, b in zip(items, masked)) else items

    def _dict(self, members: dict[str, Plain]) -> dict[str, Plain]:
        changed: dict[str, Plain] = {}
        for key, value in members.items():
            masked = self._member(key, value)
            if masked is not value:
                changed[key] = masked
        return {**members, **changed} if changed else members

    def _member(self, key: str, value: Plain) -> Plain:
        if value is None:
            return value
        if key in OPAQUE and type(value) is str:
            return value
        if is_credential(key) and _is_value(value):
            return value if value == SECRET else SECRET
        if key == "$map" and type(value) is list:
            return self._list(cast("list[Plain]", value), self._map_pair)
        if key in ("$bytes", "$bytearray", "$surrogates"):
            return value
        return self.plain(value)

    def _map_pair(self, pair: Plain) -> Plain:
        key, value = cast("list[Plain]", pair)
        masked = self._member(key, value) if type(key) is str else self.plain(value)
        return pair if masked is value else [key, masked]

    # -- requests ------------------------------------------------------------------------------

    def request(self, request: dict[str, Plain]) -> dict[str, Plain]:
        """Return what `plain(request)` returns, without redoing a grown history."""
        if self._generation != self.known.generation:
            self._generation = self.known.generation
            self._masks = {}
        return _map(request, self._masks, self.plain, self._member)

    def identity(self, masked: dict[str, Plain]) -> dict[str, Plain]:
        """Return a masked request without its credential fields.

        Another key, or none, then has the same identity.
        """
        kept = {key: value for key, value in masked.items() if not _is_masked(key, value)}
        done = _map(kept, self._identities, _identity, lambda _, value: _identity(value))
        return masked if done is kept and len(kept) == len(masked) else done

    # -- bodies --------------------------------------------------------------------------------

    def body(self, data: bytes, cuts: tuple[int, ...] = ()) -> tuple[bytes, tuple[int, ...]]:
        """Return the body with credentials replaced, and where its `cuts` are then.

        JSON, whole or in the lines of a stream, is masked by its structure and stays written as
        it was where that is possible; other text by what stands in it. In bytes that are no text
        only known credentials and unmistakable keys are looked for.
        """
        if not may_hold_credential(data) and not self.known.occurs(data):
            return data, cuts
        edits = self._edits(data)
        return apply_edits(data, edits, cuts) if edits else (data, cuts)

    def _edits(self, data: bytes) -> list[Edit]:
        if not _is_text(data):
            spans = merged(self._keys(data.decode("latin-1")))
            return [Edit(*span, SECRET.encode()) for span in spans]
        whole = parse_json(data)
        if whole is not NOT_JSON:
            return self._document(data, 0, whole)
        edits: list[Edit] = []
        documents: list[tuple[int, int]] = []
        for found in _JSON_LINE.finditer(data):
            value = parse_json(found.group(1))
            if value is not NOT_JSON:
                documents.append(found.span(1))
                edits += self._document(found.group(1), found.start(1), value)
        spans = self._spans(data.decode("latin-1"))
        edits += (Edit(*span, SECRET.encode()) for span in _outside(spans, documents))
        return sorted(edits)

    def _document(self, text: bytes, offset: int, value: Plain) -> list[Edit]:
        masked = self.plain(value)
        if masked is value:
            return []
        spans = self._spans(text.decode("latin-1"))
        edits = [Edit(start, end, SECRET.encode()) for start, end in spans]
        if parse_json(apply_edits(text, edits, ())[0]) != masked:
            edits = [Edit(0, len(text), encode(masked))]
        return [Edit(offset + start, offset + end, new) for start, end, new in edits]

    def _keys(self, text: str) -> list[tuple[int, int]]:
        return [*self.known.spans(text), *shape_spans(text)]

    def _spans(self, text: str) -> list[tuple[int, int]]:
        """Where credentials stand in JSON text, or in a piece of it."""
        found = self._keys(text)
        untouched: list[tuple[int, int]] = []
        for member in _MEMBER.finditer(text):
            if member.group(1) in OPAQUE:
                untouched.append(member.span(2))
            elif is_credential(member.group(1)) and member.group(2):
                found.append(member.span(2))
        return list(_outside(merged(found), untouched))


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _outside(
    spans: Iterable[tuple[int, int]], ranges: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    return (
        span
        for span in spans
        if not any(span[0] < end and start < span[1] for start, end in ranges)
    )


def _is_value(value: Plain) -> bool:
    """A credential is text, or the headers or fields that hold it, not a schema or a flag."""
    if type(value) is str:
        return value != ""
    if type(value) is dict:
        return not ({"type", "$ref", "description", "anyOf"} & value.keys())
    return False


def _is_masked(key: str, value: Plain) -> bool:
    return is_credential(key) and (value is None or value == "" or value == SECRET)


def _identity(plain: Plain) -> Plain:
    if type(plain) is list:
        items = cast("list[Plain]", plain)
        kept = [_identity(item) for item in items]
        return kept if any(a is not b for a, b in zip(items, kept)) else items
    if type(plain) is not dict:
        return plain
    members = cast("dict[str, Plain]", plain)
    result = {k: _identity(v) for k, v in members.items() if not _is_masked(k, v)}
    same = len(result) == len(members) and all(map(is_, result.values(), members.values()))
    return members if same else result


def _map(
    request: dict[str, Plain],
    memos: dict[str, PrefixMemo[Plain]],
    function: Callable[[Plain], Plain],
    member: Callable[[str, Plain], Plain],
) -> dict[str, Plain]:
    """Apply `function` to the elements of arrays, remembering them, `member` to the rest."""
    changed: dict[str, Plain] = {}
    for key, value in request.items():
        if type(value) is list and not key.startswith("$"):
            items = cast("list[Plain]", value)
            memo = memos.get(key)
            if memo is None:
                memo = memos.setdefault(key, PrefixMemo(function))
            mapped = memo.map(items)
            if not all(map(is_, items, mapped)):
                changed[key] = mapped
        else:
            done = member(key, value)
            if done is not value:
                changed[key] = done
    return {**request, **changed} if changed else request
