"""What a provider is: a table of how its traffic is recognised and what its routes mean."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from ..wire import Operation

if TYPE_CHECKING:
    from ..calls import Kind
    from ..wire import Exchange

__all__ = ["Host", "Provider", "Route"]

_VERSION = re.compile(r"v\d+\w*")
_SDK_HEADER = "x-stainless-lang"


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """A known upstream: `pattern` and `paths` as in fnmatch."""

    pattern: str
    label: str
    paths: str = "*"

    def matches(self, exchange: Exchange) -> bool:
        return fnmatchcase(exchange.host, self.pattern) and fnmatchcase(exchange.path, self.paths)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A path ending (a regular expression) and what a call to it is.

    `telling`: the path alone shows which API this is, also on an unknown host.
    """

    ending: str
    operation: str
    kind: Kind = "llm"
    format: str | None = None
    method: str = "POST"
    telling: bool = False

    def matches(self, exchange: Exchange) -> bool:
        if exchange.method != self.method:
            return False
        return re.search(f"(?:{self.ending})$", exchange.path.rstrip("/")) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """`package` is the SDK's import name, `dist` what is installed to get it, `agent` a regular expression for its `User-Agent`.

    `marks` are headers that calls of unknown SDKs to a `telling` route must carry,
    `semantic` headers that change what a call means (lower case),
    `volatile` top-level request fields that differ from run to run and mean nothing.
    """

    name: str
    package: str
    agent: str
    hosts: tuple[Host, ...]
    routes: tuple[Route, ...]
    dist: str = ""
    marks: tuple[str, ...] = ()
    semantic: tuple[str, ...] = ()
    volatile: frozenset[str] = frozenset()
    stream_ends: tuple[bytes, ...] = ()

    def is_sdk(self, exchange: Exchange) -> bool:
        return re.match(self.agent, exchange.lookup.get("user-agent", "")) is not None

    def host(self, exchange: Exchange) -> Host | None:
        return next((host for host in self.hosts if host.matches(exchange)), None)

    def speaks(self, exchange: Exchange) -> bool:
        """Whether an unknown client calls an unknown host in this provider's manner."""
        route = self._route(exchange)
        if route is None or any(mark not in exchange.lookup for mark in self.marks):
            return False
        return route.telling or _SDK_HEADER in exchange.lookup

    def operation(self, exchange: Exchange) -> Operation:
        route, host = self._route(exchange), self.host(exchange)
        word = route.operation if route is not None else self._first_word(exchange.path)
        return Operation(
            name=f"{self.name}.{word}",
            kind=route.kind if route is not None else "http",
            upstream=host.label if host is not None else None,
            format=route.format if route is not None else None,
            semantic=self.semantic,
            volatile=self.volatile,
            stream_ends=self.stream_ends,
        )

    def _route(self, exchange: Exchange) -> Route | None:
        return next((route for route in self.routes if route.matches(exchange)), None)

    def _first_word(self, path: str) -> str:
        words = [word for word in path.split("/") if word]
        for index, word in enumerate(words[:-1]):
            if _VERSION.fullmatch(word):
                return words[index + 1]
        return words[0] if words else "root"
