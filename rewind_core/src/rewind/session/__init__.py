"""Sessions: opening them, finding them, and what they decide."""

from __future__ import annotations

from .api import SessionContext, fork, record, replay
from .decisions import Aside, Decision, Hints, Live, Rerun, Serve
from .lineage import Attachment, Branch, branch_into
from .registry import (
    any_open,
    current_session,
    find,
    on_close,
    on_open,
    telemetry_is_quiet,
    warn_stray,
)
from .requests import Requests
from .session import Session
from .slots import Slot

__all__ = [
    "Aside",
    "Attachment",
    "Branch",
    "Decision",
    "Hints",
    "Live",
    "Requests",
    "Rerun",
    "Serve",
    "Session",
    "SessionContext",
    "Slot",
    "any_open",
    "branch_into",
    "current_session",
    "find",
    "fork",
    "on_close",
    "on_open",
    "record",
    "replay",
    "telemetry_is_quiet",
    "warn_stray",
]
