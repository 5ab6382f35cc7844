"""Every error and warning of the project, in one tree.

    RewindError (BaseException)
    ├── DivergenceError               replay cannot answer a call
    ├── TraceFormatError   (+ Exception)
    ├── SessionError       (+ Exception)
    ├── ReplayedError      (+ Exception)
    ├── ScriptExhausted    (+ Exception)
    └── LiveCallDuringReplay (+ Exception)

`DivergenceError` is deliberately not an `Exception`: SDKs and frameworks turn any
`Exception` raised inside a transport into a connection error of their own and retry
it, which would hide the miss and answer from somewhere else.
"""

from __future__ import annotations

__all__ = [
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
    "RewindWarning",
    "ScriptExhausted",
    "SessionError",
    "ThreadlessCallWarning",
    "TraceDamageWarning",
    "TraceFormatError",
    "UnconsumedEventsWarning",
]


class RewindError(BaseException):
    """Base of every error raised by rewind."""


class DivergenceError(RewindError):
    """Replay cannot answer a call from the recording.

    `step` is the sequence number of the nearest recorded event (or the number of
    events served so far), `reason` one line, `expected` and `got` the two requests
    as plain values (`None` where there is none). `str(error)` is a report of at most
    4 KB with the first differing path and the next command to run.
    """

    def __init__(
        self,
        report: str,
        *,
        step: int = 0,
        reason: str = "",
        expected: object = None,
        got: object = None,
    ) -> None:
        super().__init__(report)
        self.step = step
        self.reason = reason or report
        self.expected = expected
        self.got = got


class TraceFormatError(RewindError, Exception):
    """A trace file is missing, empty, foreign, damaged or from a newer release."""


class SessionError(RewindError, Exception):
    """A session was opened or used in a way that cannot work (nested, bad `at=`, busy path)."""


class ReplayedError(RewindError, Exception):
    """A recorded error, raised again on replay.

    When the original class is importable the raised instance is also one of it.
    """

    original_type: str = ""
    original_message: str = ""
    step: int = 0


class ScriptExhausted(RewindError, Exception):
    """A `ScriptedLLM` was called more often than its script has items."""


class LiveCallDuringReplay(RewindError, Exception):
    """A `NeverCalled` double was reached."""


class RewindWarning(UserWarning):
    """Base of every warning issued by rewind."""


class LossySerializationWarning(RewindWarning):
    """A value was recorded as its `repr` and will replay as text."""


class ReviveFallbackWarning(RewindWarning):
    """A recorded value could not be revived into its type and is served as plain data."""


class PatchGapWarning(RewindWarning):
    """A place that a patch expects is missing in the installed library."""


class FuzzyMatchWarning(RewindWarning):
    """Fuzzy matching served an approximate or out-of-position event."""


class ReplayDriftWarning(RewindWarning):
    """`match="ordered"` served an event whose request differs."""


class UnconsumedEventsWarning(RewindWarning):
    """A replay ended before all recorded events were served."""


class ThreadlessCallWarning(RewindWarning):
    """A call that could be recorded was made outside every open session."""


class TraceDamageWarning(RewindWarning):
    """Lines of the trace that is replayed are damaged; the calls they hold cannot be served."""


class RecordingWarning(RewindWarning):
    """Recording failed (a full disk, say); the program goes on unrecorded."""
