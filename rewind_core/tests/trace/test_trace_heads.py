"""The heads of HTTP exchanges stand once, and no single damaged line costs more than one event."""

from __future__ import annotations

from pathlib import Path

import pytest

from rewind.errors import TraceFormatError
from rewind.trace import Body, EventRecord, Trace, TraceWriter, WireRecord

TURNS = 6


def wire(turn: int, status: int = 200) -> WireRecord:
    long = [(f"x-client-{i}", "a value of some length") for i in range(10)]
    cookies = [("Set-Cookie", f"a={turn}"), ("Set-Cookie", "b=1")]
    return WireRecord(
        method="POST", url="https://h/v1", request_headers=[*long, ("Content-Length", str(turn))],
        status=status, reason="OK", http_version="HTTP/1.1",
        headers=[("x-request-id", str(turn)), ("server", "s"), *cookies, ("content-type", "text")],
    )  # fmt: skip


def write(path: Path, wires: list[WireRecord]) -> Trace:
    writer = TraceWriter(path)
    for seq, heads in enumerate(wires):
        writer.start(seq, "llm", "n")
        writer.event(
            EventRecord(
                seq=seq, kind="llm", name="n", ring="wire", id=str(seq), request={"q": seq},
                wire=heads, body=Body(data=b"answer"),
            )
        )  # fmt: skip
    return Trace.open(writer.close(len(wires)))


def test_equal_headers_are_written_twice_at_most_and_read_back_whole(tmp_path: Path) -> None:
    wires = [wire(turn, 429 if turn == 2 else 200) for turn in range(TURNS)]
    trace = write(tmp_path / "run.rewind", wires)
    assert [event.wire for event in trace] == wires
    assert trace.path.read_text().count("x-client-3") == 3  # 200 twice, the single 429 once
    assert Trace.open(trace.path)[4].wire == wires[4]


def test_any_one_damaged_head_line_costs_one_event_at_most(tmp_path: Path) -> None:
    wires = [wire(turn, 429 if turn == 2 else 200) for turn in range(TURNS)]
    trace = write(tmp_path / "run.rewind", wires)
    lines = trace.path.read_text().splitlines(keepends=True)
    places = [index for index, line in enumerate(lines) if line.startswith('{"head"')]
    assert len(places) == 3
    for place in places:
        spoiled = lines[place].replace("x-client-3", "x-client-4")
        copy = tmp_path / f"{place}.rewind"
        copy.write_text("".join([*lines[:place], spoiled, *lines[place + 1 :]]))
        found = Trace.open(copy)
        assert [damage.line for damage in found.damage] == [place + 1]
        lost = [event for event in found if event.damage is not None]
        assert [event.seq for event in lost] == ([2] if '"head":1' in spoiled else [])
        assert all(event.wire == wires[event.seq] for event in found if event not in lost)
        for event in lost:
            with pytest.raises(TraceFormatError, match="event 2 is damaged: head 1"):
                _ = event.wire


def test_many_different_heads_are_all_repeated_when_shared(tmp_path: Path) -> None:
    wires = [wire(turn) for turn in range(200)]
    for number, one in enumerate(wires):
        one.url = f"https://h/v1/{number // 2}"
    trace = write(tmp_path / "run.rewind", wires)
    assert [event.wire for event in trace] == wires
    assert trace.path.read_text().count('{"head":') == 200


def test_headers_that_all_changed_begin_a_new_head(tmp_path: Path) -> None:
    def drifted(turn: int) -> WireRecord:
        headers = [(f"x-{number}", f"{turn // 3}") for number in range(8)]
        return WireRecord(method="GET", url="u", request_headers=[], status=200, headers=headers)

    wires = [drifted(turn) for turn in range(9)]
    trace = write(tmp_path / "run.rewind", wires)
    assert [event.wire for event in trace] == wires
    assert trace.path.read_text().count('{"head":') == 6
