"""Runs the command line as a user does: in a process of its own, in a directory of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

import rewind
from rewind.cli.runner import command_for

Run = subprocess.CompletedProcess[str]
Command = Callable[..., Run]

AGENT = """
import sys
from pathlib import Path
import rewind

@rewind.llm
def ask(question):
    return {"model": "demo", "answer": question.upper(), "live": Path("live").read_text()}

for word in sys.argv[1:] or ["one", "two", "three"]:
    print(ask(word)["answer"], ask.__name__)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with `agent.py`, whose model works only while a file `live` is there."""
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "live").write_text("yes")
    return tmp_path


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """This process's environment with the package at hand and no key in it."""
    source = str(Path(rewind.__file__).resolve().parent.parent)
    kept = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    return {**kept, "PYTHONPATH": source, "PYTHONWARNINGS": "error"}


def _run(place: Path, env: Mapping[str, str], *words: str, input: str = "") -> Run:
    return subprocess.run(
        [sys.executable, "-m", "rewind", *words],
        cwd=place, env=env, input=input, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.fixture
def cli(place: Path, environment: dict[str, str]) -> Command:
    """`cli("show", "run.rewind")`: the finished process."""

    def run(*words: str, input: str = "", env: Mapping[str, str] | None = None) -> Run:
        return _run(place, {**environment, **(env or {})}, *words, input=input)

    return run


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> bytes:
    """The agent's three steps, recorded by the command line."""
    place = tmp_path_factory.mktemp("recording")
    (place / "agent.py").write_text(AGENT)
    (place / "live").write_text("yes")
    done = _run(place, environment, "record", "-o", "run.rewind", "--", sys.executable, "agent.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "ONE ask\nTWO ask\nTHREE ask\n"
    return (place / "run.rewind").read_bytes()


@pytest.fixture
def recorded(recording: bytes, place: Path) -> Path:
    """`run.rewind`: the agent's three steps. Its model is gone."""
    (place / "live").unlink()
    (place / "run.rewind").write_bytes(recording)
    return place / "run.rewind"


@pytest.fixture
def inner(place: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """`inner(PY, "agent.py")`: the program recorded, without starting the outer half first."""
    monkeypatch.chdir(place)

    def run(*words: str, input: str = "") -> Run:
        command, variables = command_for({"mode": "record", "path": "t.rewind"}, words)
        return subprocess.run(
            command, env={**environment, **variables},
            input=input, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    return run
