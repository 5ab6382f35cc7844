"""Record, replay and fork LLM agent runs.

Importing this package loads no SDK, opens nothing and reads no environment; every public name
is loaded on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import integrations
    from .accounting import DEFAULT_PRICES, Accounting, ModelPrice, ModelUsage, account
    from .decorators import llm, memory, tool
    from .diff import DiffEntry, TraceDiff, diff_traces, render_text
    from .errors import (
        DivergenceError,
        FuzzyMatchWarning,
        LiveCallDuringReplay,
        LossySerializationWarning,
        PatchGapWarning,
        RecordingWarning,
        ReplayDriftWarning,
        ReplayedError,
        ReviveFallbackWarning,
        RewindError,
        ScriptExhausted,
        SessionError,
        ThreadlessCallWarning,
        TraceDamageWarning,
        TraceFormatError,
        UnconsumedEventsWarning,
    )
    from .integrations import auto_patch, patch_anthropic, patch_openai
    from .matching import (
        FuzzyMatcher,
        Matcher,
        OrderedMatcher,
        ParallelMatcher,
        StrictMatcher,
        lexical_similarity,
        set_similarity,
    )
    from .session import Session, SessionContext, current_session, fork, record, replay
    from .testing import NeverCalled, ScriptedLLM
    from .trace import Event, Trace

_ERRORS = (
    "DivergenceError",
    "FuzzyMatchWarning",
    "LiveCallDuringReplay",
    "LossySerializationWarning",
    "PatchGapWarning",
    "RecordingWarning",
    "ReplayDriftWarning",
    "ReplayedError",
    "ReviveFallbackWarning",
    "RewindError",
    "ScriptExhausted",
    "SessionError",
    "ThreadlessCallWarning",
    "TraceDamageWarning",
    "TraceFormatError",
    "UnconsumedEventsWarning",
)

_MATCHING = (
    "FuzzyMatcher",
    "Matcher",
    "OrderedMatcher",
    "ParallelMatcher",
    "StrictMatcher",
    "lexical_similarity",
    "set_similarity",
)

_HOME: dict[str, str] = {
    **dict.fromkeys(_ERRORS, "errors"),
    **dict.fromkeys(("llm", "memory", "tool"), "decorators"),
    **dict.fromkeys(
        ("Session", "SessionContext", "current_session", "fork", "record", "replay"), "session"
    ),
    **dict.fromkeys(("Event", "Trace"), "trace"),
    **dict.fromkeys(("auto_patch", "patch_anthropic", "patch_openai"), "integrations"),
    **dict.fromkeys(("DiffEntry", "TraceDiff", "diff_traces", "render_text"), "diff"),
    **dict.fromkeys(
        ("DEFAULT_PRICES", "Accounting", "ModelPrice", "ModelUsage", "account"), "accounting"
    ),
    **dict.fromkeys(_MATCHING, "matching"),
    **dict.fromkeys(("NeverCalled", "ScriptedLLM"), "testing"),
}
_MODULES = ("integrations", "testing")

__all__ = [
    "DEFAULT_PRICES",
    "Accounting",
    "DiffEntry",
    "DivergenceError",
    "Event",
    "FuzzyMatchWarning",
    "FuzzyMatcher",
    "LiveCallDuringReplay",
    "LossySerializationWarning",
    "Matcher",
    "ModelPrice",
    "ModelUsage",
    "NeverCalled",
    "OrderedMatcher",
    "ParallelMatcher",
    "PatchGapWarning",
    "RecordingWarning",
    "ReplayDriftWarning",
    "ReplayedError",
    "ReviveFallbackWarning",
    "RewindError",
    "ScriptExhausted",
    "ScriptedLLM",
    "Session",
    "SessionContext",
    "SessionError",
    "StrictMatcher",
    "ThreadlessCallWarning",
    "Trace",
    "TraceDamageWarning",
    "TraceDiff",
    "TraceFormatError",
    "UnconsumedEventsWarning",
    "account",
    "auto_patch",
    "current_session",
    "diff_traces",
    "fork",
    "integrations",
    "lexical_similarity",
    "llm",
    "memory",
    "patch_anthropic",
    "patch_openai",
    "record",
    "render_text",
    "replay",
    "set_similarity",
    "tool",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if home == "session":  # threads, pools and the closed world follow every session
        importlib.import_module(".capture", __name__)
    value = getattr(importlib.import_module(f".{home}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
