"""The trace file: its records, its writer, and the lazy model that reads it back."""

from __future__ import annotations

from .copying import copy_event
from .model import Event, Trace
from .reader import Damage
from .records import UNSET, Body, EventRecord, Value, WireRecord
from .repair import Repaired, repair
from .writer import VERSION, TraceWriter

__all__ = [
    "UNSET",
    "VERSION",
    "Body",
    "Damage",
    "Event",
    "EventRecord",
    "Repaired",
    "Trace",
    "TraceWriter",
    "Value",
    "WireRecord",
    "copy_event",
    "repair",
]
