"""Golden traces: a marked test runs from its recorded trace, offline.

    @pytest.mark.rewind_trace("traces/flight.rewind")
    def test_flight(rewind_session):
        assert "SFO" in run_agent("find me a flight")

`pytest` replays, `pytest --rewind-record` runs the marked tests live and records their traces.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from .session import Session
    from .session.api import SessionContext

__all__ = ["rewind_session"]

_MARKER = (
    "rewind_trace(path, match='strict', normalize=None, redact=None, "
    "require_full_consumption=False): replay the test from the trace at `path` (relative to the "
    "test's file), or record it with --rewind-record."
)
_OPTIONS = ("match", "normalize", "redact", "require_full_consumption")
_RECORDED_BY = pytest.StashKey[dict[Path, str]]()
_KEPT = pytest.StashKey[list[str]]()


@dataclass(slots=True)
class _Golden:
    """The trace of one test, and the session that is open for it."""

    path: Path
    recording: bool
    context: SessionContext
    session: Session | None = field(default=None)

    @property
    def fresh(self) -> Path:
        """Where a recording stands until its test has passed."""
        return self.path.with_name(f"{self.path.name}.new")


_GOLDEN = pytest.StashKey[_Golden]()
_PASSED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("rewind", "golden traces")
    group.addoption(
        "--rewind-record",
        action="store_true",
        help="run the tests marked rewind_trace live and record their traces",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", _MARKER)
    config.stash[_RECORDED_BY] = {}
    config.stash[_KEPT] = []


def pytest_report_header(config: pytest.Config) -> list[str]:
    recording = config.getoption("--rewind-record")
    return ["rewind: recording golden traces, tests run live"] if recording else []


def _golden(item: pytest.Item) -> _Golden | None:
    marker = item.get_closest_marker("rewind_trace")
    if marker is None:
        return None
    if len(marker.args) != 1 or not isinstance(marker.args[0], (str, os.PathLike)):
        raise pytest.UsageError(f"{item.nodeid}: rewind_trace takes the path of one trace")
    unknown = [name for name in marker.kwargs if name not in _OPTIONS]
    if unknown:
        known = ", ".join(_OPTIONS)
        raise pytest.UsageError(
            f"{item.nodeid}: rewind_trace does not take {unknown[0]!r}; it takes {known}"
        )
    path = item.path.parent / Path(cast("str", marker.args[0]))
    recording = bool(item.config.getoption("--rewind-record"))
    options = dict(marker.kwargs)
    is_async = inspect.iscoroutinefunction(getattr(item, "obj", None))
    options["scope"] = "process" if is_async else "context"  # a loop may run in another context
    return _Golden(path, recording, _context(item, path, recording, options))


def _context(
    item: pytest.Item, path: Path, recording: bool, options: dict[str, Any]
) -> SessionContext:
    from .session import record, replay

    if not recording:
        if not path.exists():
            command = f"pytest --rewind-record {item.nodeid!r}"
            pytest.fail(f"{path}: no such trace; record it with: {command}", pytrace=False)
        return replay(path, **options)
    owner = item.config.stash[_RECORDED_BY].setdefault(path, item.nodeid)
    if owner != item.nodeid:
        pytest.fail(f"{path}: is the trace of {owner} already; give each test its own", False)
    options.pop("match", None)
    options.pop("require_full_consumption", None)
    return record(path.with_name(f"{path.name}.new"), **options)


@pytest.fixture
def rewind_session(request: pytest.FixtureRequest) -> Generator[Session]:
    """The open session of a test marked `rewind_trace`: a replay, or a recording."""
    golden = _golden(cast("pytest.Item", request.node))
    if golden is None:
        pytest.fail("rewind_session: mark the test with @pytest.mark.rewind_trace(path)", False)
    golden.session = golden.context.__enter__()
    request.node.stash[_GOLDEN] = golden
    yield golden.session
    if not golden.session.closed:  # no test function of pytest's own, or the test did not run
        passed = request.node.stash.get(_PASSED, False)
        error = None if passed else RuntimeError("the test did not pass")
        _close(cast("pytest.Item", request.node), golden, error)


@pytest.fixture(autouse=True)
def _rewind_trace(request: pytest.FixtureRequest) -> None:  # pyright: ignore[reportUnusedFunction]
    """Opens the session of a marked test that does not name `rewind_session`."""
    if request.node.get_closest_marker("rewind_trace") is not None:
        request.getfixturevalue("rewind_session")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    """Close the session right after the test, so that what it finds fails the test itself."""
    golden = pyfuncitem.stash.get(_GOLDEN, None)
    try:
        result = yield
    except BaseException as error:
        if golden is not None:
            _close(pyfuncitem, golden, error)
        raise
    if golden is not None:
        _close(pyfuncitem, golden, None)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call":
        item.stash[_PASSED] = report.passed
    return report


def _close(item: pytest.Item, golden: _Golden, error: BaseException | None) -> None:
    kind = type(error) if error is not None else None
    golden.context.__exit__(kind, error, error.__traceback__ if error is not None else None)
    if not golden.recording or not golden.fresh.exists():
        return
    if error is None:
        golden.fresh.replace(golden.path)
        return
    kept = "the trace from before is kept" if golden.path.exists() else "no trace was written"
    item.config.stash[_KEPT].append(
        f"{item.nodeid} failed: {kept}; what was recorded is in {golden.fresh}"
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    recorded = config.stash[_RECORDED_BY]
    kept = config.stash[_KEPT]
    if recorded:
        terminalreporter.section("rewind")
        for line in kept:
            terminalreporter.write_line(line)
        terminalreporter.write_line(f"golden traces recorded: {len(recorded) - len(kept)}")
