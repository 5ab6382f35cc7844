"""`compact` and `repair`: nothing is lost unsaid, and nothing is overwritten unasked."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rewind
from rewind.cli.app import run

HISTORY = ["a long message of a history that is sent again and again " * 8]


@rewind.tool
def look(**request: Any) -> str:
    return f"seen {request['n']}"


@rewind.llm
def stream(n: int) -> Iterator[int]:
    yield from range(n)


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with rewind.record("run.rewind", meta={"ticket": "T-1"}):
        agent()
    return tmp_path / "run.rewind"


def agent() -> list[Any]:
    history: list[str] = list(HISTORY)
    said: list[Any] = []
    for number in range(6):
        said.append(look(n=number, history=list(history)))
        history.append(f"turn {number} " * 40)
    return [*said, list(stream(3))]


def output(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert run(list(words)) == code
    shown = capsys.readouterr()
    return shown.err if code else shown.out


@pytest.mark.parametrize("flags", [[], ["--gzip"]], ids=["zstd", "gzip"])
def test_a_packed_trace_is_read_by_everything(
    trace: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    text = output(capsys, "compact", "run.rewind", *flags)
    packed = Path(text.split(":")[0])
    assert packed.name == ("run.rewind.gz" if flags else "run.rewind.zst")
    assert packed.stat().st_size < trace.stat().st_size / 2
    assert packed.stat().st_mode & 0o777 == 0o600
    assert trace.exists()
    with rewind.replay(packed):
        assert agent()[0] == "seen 0"
    assert "7 steps" in output(capsys, "show", str(packed))
    assert not rewind.diff_traces(trace, packed).diverged
    assert "packed already" in output(capsys, "compact", str(packed), code=2)
    assert "is there already" in output(capsys, "compact", "run.rewind", *flags, code=2)
    output(capsys, "compact", "run.rewind", *flags, "--force")
    output(capsys, "compact", "run.rewind", *flags, "-o", "other")
    assert Path("other").read_bytes() == packed.read_bytes()
    assert "the trace itself" in output(
        capsys, "compact", "run.rewind", "-o", "run.rewind", "--force", code=2
    )


def damage(trace: Path, number: int, old: bytes, new: bytes) -> None:
    lines = trace.read_bytes().splitlines(keepends=True)
    assert old in lines[number]
    lines[number] = lines[number].replace(old, new, 1)
    trace.write_bytes(b"".join(lines))


def place(trace: Path, begin: bytes) -> int:
    lines = trace.read_bytes().splitlines()
    return next(n for n, line in enumerate(lines) if line.startswith(begin))


def test_every_readable_step_is_kept_and_every_loss_is_named(
    trace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damage(trace, place(trace, b'{"event":2'), b"seen 2", b"seen 7")
    damage(trace, place(trace, b'{"chunk":6'), b'"value":0', b'"value":8')
    assert "did not finish" not in output(capsys, "compact", "run.rewind", code=2)
    text = output(capsys, "repair", "run.rewind")
    assert text.startswith("run.repaired.rewind: 5 of 7 steps kept\n")
    assert "step 2 tool look is lost: line 7: checksum does not match" in text
    assert "step 6 llm stream is lost: line 16: checksum does not match" in text
    assert "the request of step 3 tool look is lost (it referred to a damaged line)" in text
    fixed = rewind.Trace.load("run.repaired.rewind", strict_file=True)
    assert (fixed.complete, fixed.meta) == (True, {"ticket": "T-1"})
    assert [event.seq for event in fixed] == [0, 1, 3, 4, 5]
    assert fixed[1].request == rewind.Trace.open(trace)[1].request
    with rewind.replay("run.repaired.rewind"):
        history = list(HISTORY)
        for number in range(6):
            if number != 2:
                assert look(n=number, history=list(history)) == f"seen {number}"
            history.append(f"turn {number} " * 40)
    assert "is whole" in output(capsys, "repair", "run.repaired.rewind")
    assert "is there already" in output(capsys, "repair", "run.rewind", code=2)


CRASH = """
import os, rewind
@rewind.tool
def look(n): return n
@rewind.llm
def stream():
    yield 1
    yield 2
    os._exit(9)
@rewind.tool
def outer():
    return list(stream())
with rewind.record("killed.rewind"):
    look(1)
    outer()
"""


def test_what_a_crash_left_becomes_a_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert subprocess.run([sys.executable, "-c", CRASH], check=False).returncode == 9
    assert "did not finish" in output(capsys, "compact", "killed.rewind.partial", code=2)
    text = output(capsys, "repair", "killed.rewind.partial")
    assert text.splitlines()[0] == "killed.rewind: 2 of 2 steps kept"
    assert "step 1 tool outer was in flight: it has no answer" in text
    assert "step 2 llm stream ends where the run was cut off" in text
    fixed = rewind.Trace.load("killed.rewind", strict_file=True)
    assert (fixed.complete, fixed[1].response, fixed[1].truncated) == (True, [1, 2], "interrupted")
