"""What every ring turns a call into before it asks the session, and what the session answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .canonical import Plain
    from .trace import WireRecord

__all__ = ["LLM_ABSORBS", "Call", "Kind", "Ring"]

Kind = Literal["llm", "tool", "memory", "http"]
Ring = Literal["framework", "function", "sdk", "wire"]

LLM_ABSORBS: frozenset[str] = frozenset({"llm", "http"})
"""A model call seen by an outer ring covers the same call seen by an inner one."""


@dataclass(slots=True, kw_only=True)
class Call:
    """One call about to happen, already masked.

    `id` is the identity of the request (32 hex digits), `upstream` the label of a known
    host, `origin` the `scheme://host:port` of an unknown one, `absorbs` the kinds of call
    that an inner ring may see again for this very call. With `runs` a recorded call is made
    again on replay, because it changes the program's own state; what it calls is served.
    """

    kind: Kind
    name: str
    ring: Ring
    request: dict[str, Plain]
    id: str
    absorbs: frozenset[str] = frozenset()
    upstream: str | None = None
    origin: str | None = None
    attempt: int = 0
    meta: Mapping[str, Plain] = field(default_factory=dict)
    opaque_request: bytes | None = None
    wire: WireRecord | None = None
    runs: bool = False
