"""Which recorded event answers a call."""

from __future__ import annotations

from .report import Miss, report
from .strict import Tape

__all__ = ["Miss", "Tape", "report"]
