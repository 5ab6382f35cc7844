"""The pytest plugin in a real pytest of its own, as a user's project has it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import rewind

AGENT = """
import os
import rewind

@rewind.tool
def search(query):
    if os.environ.get("LIVE") != "1":
        raise RuntimeError("no network here")
    return "live " + query + os.environ.get("SUFFIX", "")

@rewind.llm
async def ask(question):
    if os.environ.get("LIVE") != "1":
        raise RuntimeError("no network here")
    return "answer to " + question
"""

PLUGINS = ("rewind.pytest_plugin", "anyio")
"""Named, because what else is installed takes seconds to load."""

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tests" / "traces").mkdir(parents=True)
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    return tmp_path


@pytest.fixture
def tests(project: Path) -> Run:
    def run(
        *arguments: str, live: bool = False, plugins: Sequence[str] = PLUGINS, **more: str
    ) -> tuple[int, str]:
        environment = {**os.environ, "LIVE": "1" if live else "0", "COLUMNS": "200", **more}
        if plugins:
            environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        named = [part for name in plugins for part in ("-p", name)]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *named, *arguments],
            cwd=project, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    return run


def write(project: Path, text: str) -> None:
    (project / "tests" / "test_it.py").write_text(
        f"import asyncio\nimport pytest\nimport rewind\nfrom agent import ask, search\n\n{text}"
    )


SIMPLE = """
@pytest.mark.rewind_trace("traces/one.rewind")
def test_one(rewind_session):
    assert search("flights") == "live flights"
    assert rewind_session.mode in ("record", "replay")
    assert rewind.current_session() is rewind_session
"""


def test_record_once_then_replay_offline(project: Path, tests: Run) -> None:
    write(project, SIMPLE)
    status, out = tests()
    assert status == 1
    assert (
        "no such trace; record it with: pytest --rewind-record 'tests/test_it.py::test_one'" in out
    )
    status, out = tests("--rewind-record", live=True)
    assert (status, "golden traces recorded: 1" in out) == (0, True), out
    assert len(rewind.Trace.load(project / "tests" / "traces" / "one.rewind")) == 1
    assert os.listdir(project / "tests" / "traces") == ["one.rewind"]
    assert tests()[0] == 0


def test_a_marked_test_needs_no_fixture_and_a_miss_fails_the_test_itself(
    project: Path, tests: Run
) -> None:
    text = '@pytest.mark.rewind_trace("traces/one.rewind")\ndef test_one():\n    search("{}")\n'
    write(project, text.format("a"))
    assert tests("--rewind-record", live=True)[0] == 0
    assert tests()[0] == 0
    write(project, text.format("b"))
    status, out = tests()
    assert (status, "1 failed" in out, "replay diverged at step 0" in out) == (1, True, True)


def test_what_was_not_asked_for_fails_on_request(project: Path, tests: Run) -> None:
    marker = '@pytest.mark.rewind_trace("traces/one.rewind", require_full_consumption=True)\n'
    write(project, marker + 'def test_one():\n    search("a")\n    search("b")\n')
    assert tests("--rewind-record", live=True)[0] == 0
    write(project, marker + 'def test_one():\n    search("a")\n')
    status, out = tests()
    assert (status, "1 failed" in out, "was never asked for" in out) == (1, True, True)


def test_a_failing_test_keeps_the_golden_trace(project: Path, tests: Run) -> None:
    write(project, SIMPLE)
    assert tests("--rewind-record", live=True)[0] == 0
    golden = (project / "tests" / "traces" / "one.rewind").read_bytes()
    status, out = tests("--rewind-record", live=True, SUFFIX=" from Oslo")
    assert status == 1
    assert "the trace from before is kept; what was recorded is in" in out
    assert (project / "tests" / "traces" / "one.rewind").read_bytes() == golden
    failed = rewind.Trace.load(project / "tests" / "traces" / "one.rewind.new")
    assert failed[0].response == "live flights from Oslo"


@pytest.mark.parametrize("runner", ["anyio", "asyncio"])
def test_async_tests(project: Path, tests: Run, runner: str) -> None:
    write(
        project,
        f"@pytest.mark.{runner}"
        """
@pytest.mark.rewind_trace("traces/one.rewind")
async def test_one(rewind_session):
    assert await asyncio.gather(ask("a"), ask("b")) == ["answer to a", "answer to b"]
    assert rewind_session.cursor == 2

@pytest.fixture
def anyio_backend():
    return "asyncio"
""",
    )
    plugins = ("rewind.pytest_plugin", "anyio" if runner == "anyio" else "pytest_asyncio.plugin")
    assert tests("--rewind-record", live=True, plugins=plugins)[0] == 0
    status, out = tests(plugins=plugins)
    assert status == 0, out


def test_unittest_classes(project: Path, tests: Run) -> None:
    write(
        project,
        """
import unittest

class TestIt(unittest.TestCase):
    @pytest.mark.rewind_trace("traces/one.rewind")
    def test_one(self):
        assert search("a") == "live a"
""",
    )
    assert tests("--rewind-record", live=True)[0] == 0
    status, out = tests()
    assert status == 0, out


def test_matching_normalize_and_redact(project: Path, tests: Run) -> None:
    write(
        project,
        """
import time

def drop(request):
    return {"query": request["query"].split("@")[0]}

def hide(value):
    return "hidden" if isinstance(value, str) else value

@pytest.mark.rewind_trace("traces/normalized.rewind", normalize=drop, redact=hide)
def test_normalized(rewind_session):
    said = search(f"flights@{time.time()}")
    assert said == "hidden" if rewind_session.mode == "replay" else said.startswith("live")

@pytest.mark.rewind_trace("traces/ordered.rewind", match="ordered")
@pytest.mark.filterwarnings("ignore::rewind.ReplayDriftWarning")
def test_ordered():
    assert search(f"flights at {time.time()}").startswith("live flights")
""",
    )
    assert tests("--rewind-record", live=True)[0] == 0
    status, out = tests()
    assert status == 0, out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("@pytest.mark.rewind_trace()\ndef test_it(): pass", "takes the path of one trace"),
        ("@pytest.mark.rewind_trace(3)\ndef test_it(): pass", "takes the path of one trace"),
        ("@pytest.mark.rewind_trace('a', mach='x')\ndef test_it(): pass",
         "does not take 'mach'; it takes match"),
        ("def test_it(rewind_session): pass", "mark the test with @pytest.mark.rewind_trace(path)"),
    ],
)  # fmt: skip
def test_wrong_use_is_named(project: Path, tests: Run, text: str, why: str) -> None:
    write(project, text)
    status, out = tests()
    assert status == 1
    assert why in out


def test_two_tests_never_record_over_each_other(project: Path, tests: Run) -> None:
    write(
        project,
        """
@pytest.mark.rewind_trace("traces/one.rewind")
@pytest.mark.parametrize("q", ["a", "b"])
def test_one(q):
    search(q)
""",
    )
    status, out = tests("--rewind-record", live=True)
    assert (status, "1 passed, 1 error" in out) == (1, True)
    assert "is the trace of tests/test_it.py::test_one[a] already" in out


def test_pytest_finds_it_by_itself(tests: Run) -> None:
    assert "--rewind-record" in tests("--help", plugins=())[1]
    assert "rewind_trace(path, match='strict'" in tests("--markers", plugins=())[1]
