"""The conformance suite of the adapters. It needs pytest and pydantic."""

from __future__ import annotations

from ..chat import Turn
from .suite import AdapterConformance, Report
from .tasks import Capability, Mode, Outcome, Port, Task, Toolbox, Way

__all__ = [
    "AdapterConformance",
    "Capability",
    "Mode",
    "Outcome",
    "Port",
    "Report",
    "Task",
    "Toolbox",
    "Turn",
    "Way",
]
