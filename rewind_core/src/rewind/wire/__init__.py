"""The wire ring: HTTP exchanges as calls, bodies as recorded outcomes."""

from __future__ import annotations

from .exchange import Exchange, Operation
from .identity import build_call
from .sink import close_sinks

__all__ = ["Exchange", "Operation", "build_call", "close_sinks"]
