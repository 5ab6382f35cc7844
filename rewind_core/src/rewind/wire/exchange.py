"""What the wire ring knows of an HTTP call before it is made, whatever client makes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from ..calls import Kind

__all__ = ["Exchange", "Operation", "Telemetry"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The request half of an HTTP call. `lookup` has lower-case header names."""

    method: str
    url: str
    scheme: str
    host: str
    port: int | None
    path: str
    query: str
    headers: list[tuple[str, str]]
    lookup: dict[str, str]

    @classmethod
    def read(cls, method: str, url: str, headers: list[tuple[str, str]]) -> Exchange:
        parts = urlsplit(url)
        return cls(
            method=method.upper(),
            url=url,
            scheme=parts.scheme,
            host=(parts.hostname or "").lower(),
            port=parts.port or {"http": 80, "https": 443}.get(parts.scheme),
            path=parts.path or "/",
            query=parts.query,
            headers=headers,
            lookup={name.lower(): value for name, value in headers},
        )

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    @property
    def media_type(self) -> str:
        return self.lookup.get("content-type", "").split(";")[0].strip().lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What a provider's table says about an exchange.

    `upstream` is the label of a known host, `semantic` the headers (lower case) that change what
    the call means, `volatile` the top-level request fields that take
    no part in identity, `stream_ends` byte strings after which a stream has said everything.
    """

    name: str
    kind: Kind
    upstream: str | None = None
    format: str | None = None
    semantic: tuple[str, ...] = ()
    volatile: frozenset[str] = field(default_factory=lambda: frozenset[str]())
    stream_ends: tuple[bytes, ...] = ()


Telemetry = Literal["telemetry"]
"""The verdict on a tracing upload: passed through live, answered `{}` on replay."""
