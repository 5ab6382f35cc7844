"""The credentials that this process uses: found by their value wherever they are written."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Final
from urllib.parse import quote, quote_plus, unquote, unquote_plus, urlsplit

from .rules import (
    SECRET,
    is_credential_header,
    is_credential_parameter,
    is_credential_variable,
    looks_secret,
)
from .spans import replace_spans

__all__ = ["SHORTEST", "KnownSecrets"]

SHORTEST: Final = 8
"""Characters of the shortest credential that is told from a word."""

_REMEMBERED: Final = 256
_SHORT: Final = 20
_SCHEME: Final = re.compile(r"(?:bearer|basic|token|apikey|api-key|key)\s+(?=\S)", re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Za-z0-9_-]")


def _is_telling(value: str) -> bool:
    """Whether a value is a credential and nothing else: `EMPTY` and `ollama` are words."""
    if len(value) < SHORTEST or re.search(r"\s", value) or value == SECRET:
        return False
    mixed = any(c.isdigit() for c in value) and any(c.isalpha() for c in value)
    return len(value) >= _SHORT or mixed


def _spellings(value: str) -> Iterator[str]:
    """How a value may stand in text, a URL or JSON."""
    yield value
    for quoted in (quote(value, safe=""), quote_plus(value), quote(value)):
        yield quoted
        yield re.sub(r"%[0-9A-F]{2}", lambda found: found.group().lower(), quoted)
    escaped = json.dumps(value)[1:-1]
    yield escaped
    yield escaped.replace("/", "\\/")
    yield "".join(f"\\u{ord(c):04X}" if c in "+&=<>'" else c for c in escaped)
    yield "".join(f"\\u{ord(c):04x}" if c in "+&=<>'" else c for c in escaped)


class KnownSecrets:
    """Values learned from the environment and from the requests of one session.

    `generation` grows whenever one is added. Threads may share it.
    """

    def __init__(self) -> None:
        self.generation = 0
        self._values: dict[str, tuple[str, ...]] = {}
        self._spelled: tuple[str, ...] = ()
        self._encoded: tuple[bytes, ...] = ()

    def learn(self, value: str) -> None:
        """Remember a credential, unless it is a word that may stand in any text."""
        if value in self._values or not _is_telling(value):
            return
        values = {**self._values, value: tuple(_spellings(value))}
        if len(values) > _REMEMBERED:
            values.pop(next(iter(values)))
        spelled = {spelling for spellings in values.values() for spelling in spellings}
        self._values = values
        self._encoded = tuple(s.encode("utf-8", "surrogatepass") for s in spelled)
        self._spelled = tuple(spelled)
        self.generation += 1

    def learn_variables(self, variables: Mapping[str, str]) -> None:
        """Learn the values of variables that are named like a credential."""
        for name, value in variables.items():
            if is_credential_variable(name) and not value.startswith(("/", "./", "~", "http")):
                self.learn(value)
            elif "://" in value and "@" in value:
                self.learn_url(value)

    def learn_environment(self) -> None:
        self.learn_variables(os.environ)

    def learn_header(self, name: str, value: str) -> None:
        """Learn the credential of a header that is sent, without its scheme."""
        if name.lower() == "cookie":
            for pair in value.split(";"):
                cookie = pair.partition("=")[2].strip()
                if looks_secret(cookie):
                    self.learn(cookie)
            return
        scheme = _SCHEME.match(value)
        if scheme is None and not is_credential_header(name, value, sent=True):
            return
        bare = value[scheme.end() :] if scheme else value
        if "," in bare or re.search(r"\s", bare):  # a signature of this one request
            return
        self.learn(bare)
        if scheme and scheme.group().lower().startswith("basic"):
            self._learn_basic(bare)

    def _learn_basic(self, encoded: str) -> None:
        try:
            user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return
        self.learn(password or user)

    def learn_url(self, url: str) -> None:
        """Learn the password and the credential parameters of a URL."""
        try:
            parts = urlsplit(url)
        except ValueError:
            return
        if parts.password:
            self.learn(unquote(parts.password))
        for query in (parts.query, parts.fragment):
            for pair in query.split("&") if query else ():
                name, _, value = pair.partition("=")
                if is_credential_parameter(unquote_plus(name), value):
                    self.learn(unquote_plus(value))

    def occurs(self, data: bytes) -> bool:
        """Whether any of them may stand in these bytes."""
        return any(value in data for value in self._encoded)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where they stand in `text`."""
        for value in self._spelled:
            at = text.find(value)
            while at >= 0:
                end = at + len(value)
                if len(value) >= _SHORT or not _joined(text, at, end):
                    yield at, end
                at = text.find(value, at + 1)

    def mask(self, text: str) -> str:
        """Return the text without them."""
        for value in self._spelled:
            if value in text:
                return replace_spans(text, self.spans(text), SECRET)
        return text

    def starts(self, word: str) -> bool:
        """Whether `word`, at the end of what has been read, may go on to be one of them."""
        return any(value.startswith(word) for value in self._spelled)


def _joined(text: str, start: int, end: int) -> bool:
    """Whether a short value is part of a longer word there."""
    before = start > 0 and _WORD.match(text[start - 1]) is not None
    return before or (end < len(text) and _WORD.match(text[end]) is not None)
