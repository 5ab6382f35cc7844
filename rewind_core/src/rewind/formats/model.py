"""What a wire format reads out of a call: the same few things whatever the provider."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Message", "Reading", "ToolCall", "Usage", "WireFormat"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts as the provider reported them; `None` where it reported nothing.

    `input_tokens` counts everything sent, cached parts included; `cache_read_tokens` and
    `cache_write_tokens` are parts of it. `output_tokens` includes reasoning.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def known(self) -> bool:
        return self.input_tokens is not None and self.output_tokens is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A tool call that the model asked for; `arguments` is the text the model wrote."""

    id: str | None = None
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The meaning of one recorded call.

    `messages` is what was sent, in order; `text` the final answer of the model (`None` if
    there is none), `finish` its reason to stop in the provider's own word.
    """

    format: str = "opaque"
    model: str | None = None
    messages: tuple[Message, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    text: str | None = None
    finish: str | None = None


class WireFormat(Protocol):
    """The functions that every module of a format has."""

    NAME: str
    OPERATIONS: frozenset[str]
    """Last parts of event names that speak this format."""
    PATHS: tuple[str, ...]
    """Ends of URL paths that speak this format."""

    def matches(self, response: object) -> bool:
        """Whether a response body (not a stream) has this format's shape."""
        ...

    def read(self, request: Mapping[str, object], response: object) -> Reading:
        """Read a request and its response: a body, or the list of a stream's events."""
        ...

    def read_stream(
        self, request: Mapping[str, object], events: Sequence[Mapping[str, object]]
    ) -> Reading: ...
