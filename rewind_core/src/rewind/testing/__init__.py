"""Public test doubles: a scripted model, a call that must not happen, a local provider."""

from __future__ import annotations

from .doubles import NeverCalled, ScriptedLLM
from .interactions import Interaction, Split, load, sample, samples
from .standin import Received, StandIn

__all__ = [
    "Interaction",
    "NeverCalled",
    "Received",
    "ScriptedLLM",
    "Split",
    "StandIn",
    "load",
    "sample",
    "samples",
]
