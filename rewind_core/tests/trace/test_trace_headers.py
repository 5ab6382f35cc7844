"""Request headers stand once, and their loss costs their display only."""

from __future__ import annotations

from pathlib import Path

from rewind.trace import Body, EventRecord, Trace, TraceWriter, WireRecord


def headers(length: int) -> list[tuple[str, str]]:
    long = [(f"x-client-{i}", "a value of some length") for i in range(10)]
    return [("Host", "h"), *long, ("Content-Length", str(length))]


def write(path: Path) -> None:
    writer = TraceWriter(path)
    for seq in range(5):
        wire = WireRecord(method="POST", url="u", request_headers=headers(seq), status=200)
        writer.start(seq, "llm", "n")
        writer.event(
            EventRecord(
                seq=seq, kind="llm", name="n", ring="wire", id=str(seq), request={"q": seq},
                wire=wire, body=Body(data=b"answer"),
            )
        )  # fmt: skip
    writer.close(5)


def test_equal_headers_are_written_once_and_read_back_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.rewind"
    write(path)
    assert path.read_text().count("x-client-3") == 1
    for event in Trace.open(path):
        assert event.wire is not None
        assert event.wire.request_headers == headers(event.seq)


def test_damage_of_the_shared_line_costs_their_display_only(tmp_path: Path) -> None:
    path = tmp_path / "run.rewind"
    write(path)
    path.write_text(path.read_text().replace("x-client-3", "x-client-4"))
    event = Trace.open(path).events[3]
    assert event.wire is not None
    assert event.wire.status == 200
    assert event.wire.request_headers in ([], [("Content-Length", "3")])
    assert event.body is not None
    assert event.body.data == b"answer"
