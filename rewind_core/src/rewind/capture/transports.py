"""The hooks of the wire ring: one group per client library, installed and removed together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .httpx import HTTPX

if TYPE_CHECKING:
    from .patching import Group

__all__ = ["TRANSPORTS", "acquire", "release"]

TRANSPORTS: tuple[Group, ...] = (HTTPX,)


def acquire() -> None:
    """Hook every client library, now or when it is imported."""
    for group in TRANSPORTS:
        group.acquire()


def release() -> None:
    """Undo one `acquire`."""
    for group in reversed(TRANSPORTS):
        group.release()
