"""The trace file: its records, its writer, and the lazy model that reads it back."""

from __future__ import annotations

from .model import Event, Trace
from .reader import Damage
from .records import UNSET, Body, EventRecord, Value, WireRecord
from .writer import VERSION, TraceWriter

__all__ = [
    "UNSET",
    "VERSION",
    "Body",
    "Damage",
    "Event",
    "EventRecord",
    "Trace",
    "TraceWriter",
    "Value",
    "WireRecord",
]
