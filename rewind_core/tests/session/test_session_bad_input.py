"""What `record`, `replay` and `fork` refuse, and what a damaged trace costs them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rewind


@rewind.tool
def look(place: str) -> str:
    return f"seen {place}"


@rewind.tool
def other() -> str:
    return "other"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three looks, the second at the same place as the third."""
    path = tmp_path / "run.rewind"
    with rewind.record(path):
        for place in ("hall", "attic", "attic"):
            look(place)
    return path


def spoil(path: Path, seq: int) -> None:
    """Change one byte of an event's own line."""
    mark = b'{"event":%d,' % seq
    lines = path.read_bytes().split(b"\n")
    place = next(i for i, line in enumerate(lines) if line.startswith(mark))
    lines[place] = lines[place].replace(b"seen", b"seem")
    path.write_bytes(b"\n".join(lines))


@pytest.mark.parametrize(
    ("open_session", "names"),
    [
        (lambda p: rewind.fork(p, at="1"), "at='1'"),
        (lambda p: rewind.fork(p, at=1.5), "at=1.5"),
        (lambda p: rewind.fork(p, at=True), "at=True"),
        (lambda p: rewind.fork(p, at=None), "at=None"),
        (lambda p: rewind.replay(p, break_at="2"), "break_at='2'"),
        (lambda p: rewind.replay(p, match="Strict"), "match='Strict'"),
        (lambda p: rewind.replay(p, match=None), "match=None"),
        (lambda p: rewind.replay(p, retries="none"), "retries='none'"),
        (lambda p: rewind.replay(p, scope="thread"), "scope='thread'"),
        (lambda p: rewind.replay(p, on_step=3), "on_step=3"),
        (lambda p: rewind.replay(p, allow_hosts="localhost"), "allow_hosts='localhost'"),
        (lambda p: rewind.record(p, redact="key"), "redact='key'"),
        (lambda p: rewind.record(p, normalize={}), "normalize={}"),
        (lambda p: rewind.record(p, ignore=[1]), "ignore holds 1"),
    ],
)
def test_a_wrong_argument_is_refused_by_name_before_the_run(
    open_session: Callable[[Any], Any], names: str, path: Path
) -> None:
    before = path.read_bytes()
    with pytest.raises(rewind.SessionError) as caught:
        open_session(path)
    assert names in str(caught.value)
    assert path.read_bytes() == before


def test_an_iterator_of_hosts_is_taken(path: Path) -> None:
    with rewind.record(path, ignore=iter(["a.example"])) as session:
        assert session.ignore == {"a.example"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_no_trace_and_does_not_hang(tmp_path: Path) -> None:
    pipe = tmp_path / "run.rewind"
    os.mkfifo(pipe)
    with pytest.raises(rewind.TraceFormatError, match="device or a pipe"):
        rewind.Trace.open(pipe)
    with pytest.raises(rewind.TraceFormatError, match="device or a pipe"):
        rewind.replay(pipe).__enter__()


def test_a_damaged_step_is_named_when_opened_and_when_asked_for(path: Path) -> None:
    spoil(path, 0)
    with pytest.warns(rewind.TraceDamageWarning, match=r"line \d+: checksum.*step 0"):
        context = rewind.replay(path, require_full_consumption=True)
        session = context.__enter__()
    try:
        with pytest.raises(rewind.DivergenceError, match="step 0 of the recording is damaged"):
            look("hall")
        session.acknowledge()
        assert [look("attic"), look("attic")] == ["seen attic", "seen attic"]
    finally:
        context.__exit__(None, None, None)


def test_the_twin_of_a_damaged_step_does_not_answer_for_it(path: Path) -> None:
    spoil(path, 1)
    with pytest.warns(rewind.TraceDamageWarning), pytest.raises(rewind.DivergenceError) as caught:
        with rewind.replay(path):
            look("hall")
            look("attic")
    assert "step 1 of the recording is damaged" in str(caught.value)


def test_a_fork_does_not_go_live_over_a_damaged_step(path: Path, tmp_path: Path) -> None:
    spoil(path, 0)
    with pytest.warns(rewind.TraceDamageWarning), pytest.raises(rewind.DivergenceError) as caught:
        with rewind.fork(path, at=2, save_as=tmp_path / "fixed.rewind"):
            look("hall")
    assert "step 0 of the recording is damaged" in str(caught.value)
    assert caught.value.expected is None


def test_a_fork_at_a_damaged_step_replaces_it(path: Path, tmp_path: Path) -> None:
    spoil(path, 1)
    fixed = tmp_path / "fixed.rewind"
    with pytest.warns(rewind.TraceDamageWarning), rewind.fork(path, at=1, save_as=fixed):
        seen = [look(place) for place in ("hall", "attic", "attic")]
    with rewind.replay(fixed, require_full_consumption=True):
        assert [look(place) for place in ("hall", "attic", "attic")] == seen
