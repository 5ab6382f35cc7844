"""Lets CI insist on the recorded provider traffic.

Tests marked `corpus` skip where REWIND_CORPUS leads nowhere, which is right on a laptop. With
REWIND_REQUIRE_CORPUS=1 a run that skipped one of them, or that collected none, has failed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

REQUIRED = os.environ.get("REWIND_REQUIRE_CORPUS", "") not in ("", "0")

collected = pytest.StashKey[int]()
skipped = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[collected] = 0
    config.stash[skipped] = []


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    config.stash[collected] = sum(item.get_closest_marker("corpus") is not None for item in items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.skipped and item.get_closest_marker("corpus") is not None:
        item.config.stash[skipped].append(item.nodeid)
    return report


def unmet(config: pytest.Config) -> str | None:
    """Why the corpus tests of this run do not count, or None."""
    if not REQUIRED:
        return None
    if config.stash[collected] == 0:
        return "REWIND_REQUIRE_CORPUS is set and no test marked `corpus` was collected"
    if names := config.stash[skipped]:
        return f"REWIND_REQUIRE_CORPUS is set and {len(names)} corpus tests were skipped: {names[0]} .."
    return None


def pytest_sessionfinish(session: pytest.Session) -> None:
    if unmet(session.config) is not None and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if reason := unmet(config):
        terminalreporter.write_line(reason, red=True)
