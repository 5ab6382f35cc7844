"""Recording endangers neither the program nor an older trace."""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path

import pytest

from rewind.errors import RecordingWarning, RewindError
from rewind.trace import EventRecord, Trace, TraceWriter


def record(seq: int) -> EventRecord:
    return EventRecord(seq=seq, kind="tool", name="n", ring="function", id="i", request={}, value=1)


def test_files_are_private(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "a")
    assert stat.S_IMODE(writer.partial.stat().st_mode) == 0o600
    path = writer.close(0)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    copy = Trace.open(path).dump(tmp_path / "b")
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_the_file_takes_its_name_when_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "a"
    writer = TraceWriter(path)
    assert not path.exists()
    assert len(Trace.open(path)) == 0
    writer.event(record(0))
    assert len(Trace.open(path)) == 1
    assert writer.close(1) == path
    assert writer.close(1) == path
    assert not writer.partial.exists()


def test_two_writers_of_one_path(tmp_path: Path) -> None:
    first = TraceWriter(tmp_path / "a")
    with pytest.raises(RewindError, match="another session"):
        TraceWriter(tmp_path / "a")
    first.close(0)
    TraceWriter(tmp_path / "a").close(0)


def test_a_leftover_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.partial").write_text("precious")
    writer = TraceWriter(tmp_path / "a")
    assert writer.partial.name == "a.1.partial"
    writer.close(0)
    assert (tmp_path / "a.partial").read_text() == "precious"


def break_disk(writer: TraceWriter) -> None:
    """Every later write fails with ENOSPC."""
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, writer._fd)
    os.close(full)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("action", ["always", "error"])
def test_a_full_disk_is_said_once(tmp_path: Path, action: str) -> None:
    path = tmp_path / "a"
    path.write_text("older")
    writer = TraceWriter(path)
    writer.event(record(0))
    break_disk(writer)
    with warnings.catch_warnings(record=action == "always") as seen:
        warnings.simplefilter(action)  # type: ignore[arg-type]
        for seq in range(1, 4):
            writer.start(seq, "tool", "n")
            writer.event(record(seq))
        assert writer.close(4) == writer.partial
    if seen is not None:
        assert [w.category for w in seen] == [RecordingWarning]
        assert "No space left" in str(seen[0].message)
    assert isinstance(writer.broken, OSError)
    assert path.read_text() == "older"
    assert len(Trace.open(writer.partial)) == 1


def test_an_event_that_cannot_be_written_is_not_referred_to(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "a")
    shared = [{"text": "x" * 400}] * 3
    bad = record(0)
    bad.request = {"m": shared, "bad": "\ud800"}
    with pytest.raises(UnicodeEncodeError):
        writer.event(bad)
    good = record(1)
    good.request = {"m": shared}
    writer.event(good)
    writer.close(2)
    assert Trace.open(tmp_path / "a")[-1].request == {"m": shared}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # threads of the test run
def test_a_forked_child_writes_nothing(tmp_path: Path) -> None:
    writer = TraceWriter(tmp_path / "a")
    child = os.fork()
    if child == 0:
        writer.event(record(7))
        writer.close(8)
        os._exit(0)
    os.waitpid(child, 0)
    assert writer.partial.exists()
    writer.event(record(0))
    writer.close(1)
    assert [event.seq for event in Trace.open(tmp_path / "a")] == [0]
