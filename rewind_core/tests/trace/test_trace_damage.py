"""Damage costs what it touches, and is named."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rewind.trace
from rewind.canonical import encode
from rewind.errors import RewindError, TraceFormatError
from rewind.trace import EventRecord, Trace, TraceWriter
from rewind.trace.lines import seal


def record(seq: int, request: dict[str, Any], **more: Any) -> EventRecord:
    return EventRecord(
        seq=seq, kind="tool", name="n", ring="function", id=f"{seq:032x}", request=request, **more
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Three events, the last two refer to the first."""
    path = tmp_path / "a.rewind"
    writer = TraceWriter(path)
    shared = {"role": "user", "content": "x" * 300}
    for seq in range(3):
        writer.start(seq, "tool", "n")
        writer.event(record(seq, {"m": [shared] * (seq + 2)}, value=seq))
    writer.close(3)
    return path


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1]


def rewrite(path: Path, new: list[bytes]) -> None:
    path.write_bytes(b"\n".join(new) + b"\n")


def test_a_damaged_event_line_costs_that_event(path: Path) -> None:
    new = lines(path)
    new[2] = new[2].replace(b"xxx", b"xyx", 1)
    rewrite(path, new)
    trace = Trace.open(path)
    assert [(d.line, d.event) for d in trace.damage] == [(3, 0)]
    assert [(e.seq, e.name) for e in trace] == [(0, "n"), (1, "n"), (2, "n")]
    with pytest.raises(TraceFormatError, match=r"a\.rewind: event 0 is damaged: line 3"):
        _ = trace[0].response
    assert trace[1].response == 1
    assert trace[1].id
    with pytest.raises(TraceFormatError, match="event 0"):
        _ = trace[1].request
    with pytest.raises(TraceFormatError, match="line 3"):
        Trace.open(path, strict_file=True)


@pytest.mark.parametrize("garbage", [b"\x0b", b" ", b"\x00"])
def test_a_flipped_newline_loses_nothing(path: Path, garbage: bytes) -> None:
    whole = Trace.open(path)
    for gap in range(len(lines(path)) - 1):
        new = lines(path)
        new[gap : gap + 2] = [new[gap] + garbage + new[gap + 1]]
        copy = path.with_name(f"b{gap}{garbage[0]}")
        rewrite(copy, new)
        trace = Trace.open(copy)
        assert trace.damage == []
        assert [e.request for e in trace] == [e.request for e in whole]
        assert trace.complete


def test_a_damaged_line_merged_with_a_sound_one(path: Path) -> None:
    new = lines(path)
    new[2:4] = [new[2].replace(b"xxx", b"xyx", 1) + b"\x0b" + new[3]]
    rewrite(path, new)
    trace = Trace.open(path)
    assert [d.event for d in trace.damage] == [0]
    assert trace[1].response == 1


def test_a_missing_event_line_is_noticed(path: Path) -> None:
    new = lines(path)
    del new[2]
    rewrite(path, new)
    with pytest.raises(TraceFormatError, match="event 0"):
        _ = Trace.open(path)[0].response


@pytest.mark.parametrize("keep", [1, 5, 100])
def test_a_torn_last_line_is_tolerated(path: Path, keep: int) -> None:
    new = lines(path)
    path.write_bytes(b"\n".join(new[:6]) + b"\n" + new[6][:keep])
    trace = Trace.open(path)
    assert trace.damage == []
    assert not trace.complete
    assert [e.seq for e in trace] == [0, 1]
    assert [(u.seq, u.kind, u.name) for u in trace.unfinished] == [(2, "tool", "n")]


def test_every_cut_of_a_file_can_be_read(path: Path) -> None:
    data = path.read_bytes()
    first = data.index(b"\n") + 1
    for end in range(first, len(data), 7):
        path.write_bytes(data[:end])
        Trace.load(path)


def test_every_changed_byte_is_noticed_or_harmless(path: Path) -> None:
    data = path.read_bytes()
    whole = [(e.id, e.response, e.request) for e in Trace.open(path)]
    for place in range(40, len(data), 11):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        try:
            trace = Trace.open(path)
        except TraceFormatError:
            continue
        for event in trace:
            try:
                seen = (event.id, event.response, event.request)
            except TraceFormatError:
                continue
            assert seen == whole[event.seq]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"hello\n", "is not a rewind trace"),
        (b'{"a":1}\n', "is not a rewind trace"),
        (b"\x00" * 50, "is not a rewind trace"),
        (b"PK\x03\x04\n\n", "is not a rewind trace"),
        (seal(b'{"rewind":2}'), "newer release"),
        (b'{"rewind":1,"id":"x', "no complete line"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "a.rewind"
    path.write_bytes(content)
    with pytest.raises(TraceFormatError, match=message) as caught:
        Trace.open(path)
    assert str(path) in str(caught.value)


def test_places_without_a_trace_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceFormatError, match="no such trace"):
        Trace.open(tmp_path / "none")
    with pytest.raises(TraceFormatError, match="is a directory"):
        Trace.open(tmp_path)
    with pytest.raises(TraceFormatError, match="is a directory"):
        TraceWriter(tmp_path)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(TraceFormatError, match="file"):
        Trace.open(file / "below")
    with pytest.raises(TraceFormatError, match="cannot be written"):
        TraceWriter(file / "below")


def test_a_file_without_permission_is_refused(path: Path) -> None:
    path.chmod(0)
    try:
        path.read_bytes()
    except PermissionError:
        with pytest.raises(TraceFormatError, match="cannot be read"):
            Trace.open(path)


@pytest.mark.parametrize(
    "requests",
    [
        [{"m": [{"$run": [0, 0, 0, 1]}]}],
        [{"m": [{"$run": [1, 0, 0, 1]}]}, {"m": [{"$run": [0, 0, 0, 1]}]}],
        [{"m": [1]}, {"m": [{"$run": [0, 5, 0, 1]}]}],
        [{"m": [1]}, {"m": [{"$run": [0, 0, 0, 10**12]}]}],
        [{"m": [1]}, {"m": [{"$run": [0, 0, 3, 9]}]}],
        [{"m": [1]}, {"m": [{"$run": [0, 0, 1, 0]}]}],
        [{"m": [1]}, {"m": [{"$run": "x"}]}],
        [{"m": [1]}, {"m": [{"$run": [7, 0, 0, 1]}]}],
        [{"m": {"$text": [0, 0]}}],
        [{"m": 1}, {"m": {"$text": [0, 9]}}],
        [{"m": [1, 2]}] + [{"m": [{"$run": [n, 0, 0, 2**n * 2]}] * 2} for n in range(40)],
    ],
    ids=range(11),
)
def test_hostile_references_are_refused(tmp_path: Path, requests: list[dict[str, Any]]) -> None:
    path = tmp_path / "a"
    made = [seal(b'{"rewind":1}')]
    for seq, request in enumerate(requests):
        event = {"event": seq, "kind": "tool", "name": "n", "request": request, "value": 1}
        made.append(seal(encode(event)))
    path.write_bytes(b"".join(made))
    last = Trace.open(path)[-1]
    assert last.response == 1
    with pytest.raises(TraceFormatError):
        _ = last.request


def test_a_long_chain_needs_no_recursion(tmp_path: Path) -> None:
    path = tmp_path / "a"
    writer = TraceWriter(path)
    history: list[Any] = []
    for seq in range(3000):
        history.append({"role": "user", "content": f"{seq} " + "x" * 70})
        writer.event(record(seq, {"m": list(history)}, value=1))
    writer.close(3000)
    assert Trace.open(path)[-1].request == {"m": history}


KILLED = """
import os, sys
from rewind.trace import *
writer = TraceWriter(sys.argv[1])
writer.start(0, "llm", "n")
writer.start(1, "tool", "t")
writer.event(EventRecord(seq=0, kind="llm", name="n", ring="wire", id="i", request={}, stream=True))
writer.chunk(0, Value(plain="one"))
writer.chunk(0, Value(plain="two"))
os.kill(os.getpid(), 9)
"""


def test_a_killed_run_leaves_what_it_consumed(tmp_path: Path) -> None:
    path = tmp_path / "a.rewind"
    path.write_text("an older trace")
    source = str(Path(rewind.trace.__file__).parents[2])
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, str(path)], env={"PYTHONPATH": source}, check=False
        )
        assert done.returncode == -9
    assert path.read_text() == "an older trace"
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "a.rewind",
        "a.rewind.1.partial",
        "a.rewind.partial",
    ]
    path.unlink()
    trace = Trace.open(path)
    assert trace.path.name == "a.rewind.1.partial"
    event = trace[0]
    assert event.response == ["one", "two"]
    assert (event.complete, event.truncated, trace.complete) == (False, "interrupted", False)
    assert [u.seq for u in trace.unfinished] == [0, 1]


def test_errors_are_rewind_errors() -> None:
    assert issubclass(TraceFormatError, RewindError)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("body", 5),
        ("body", {}),
        ("body", {"base64": "%"}),
        ("head", 7),
        ("head", "0"),
        ("headers", [[9, "beyond the last"]]),
        ("headers", [["by name", "x"]]),
        ("request_headers", 1),
        ("value", None),
        ("opaque", []),
        ("error", 3),
        ("request", []),
    ],
)
def test_members_of_the_wrong_shape_are_refused(tmp_path: Path, member: str, value: Any) -> None:
    path = tmp_path / "a"
    event = {
        "event": 0,
        "kind": "tool",
        "name": "n",
        "head": 0,
    }
    head = {"head": 0, "method": "GET", "url": "u", "status": 200}
    lines = [{"rewind": 1}, head, {**event, member: value}]
    path.write_bytes(b"".join(seal(encode(line)) for line in lines))
    opened = Trace.open(path)[0]
    try:
        _ = (
            opened.request,
            opened.response,
            opened.body,
            opened.wire,
            opened.error,
            opened.opaque_request,
        )
    except TraceFormatError as error:
        assert f"{path}: event 0" in str(error)


def test_a_file_cut_after_it_was_opened(path: Path) -> None:
    trace = Trace.open(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(TraceFormatError, match="event 2"):
        _ = trace[2].response
