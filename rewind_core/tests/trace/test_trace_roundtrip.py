"""What is written is read back, whole and small."""

from __future__ import annotations

import os
import random
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rewind.canonical import RequestIdentity, encode, request_id, to_plain
from rewind.errors import TraceFormatError
from rewind.trace import UNSET, Body, EventRecord, Trace, TraceWriter, Value, WireRecord


def record(seq: int, request: dict[str, Any], **more: Any) -> EventRecord:
    return EventRecord(
        seq=seq, kind="llm", name="n", ring="wire", id=f"{seq:032x}", request=request, **more
    )


def wire(status: int = 200, media_type: str = "application/json") -> WireRecord:
    return WireRecord(
        method="POST",
        url="http://host/v1",
        request_headers=[("a", "b")],
        status=status,
        reason="OK",
        http_version="HTTP/1.1",
        headers=[("Content-Type", media_type), ("x", "1"), ("x", "2")],
    )


def write(path: Path, records: list[EventRecord]) -> Trace:
    writer = TraceWriter(path)
    for rec in records:
        writer.start(rec.seq, rec.kind, rec.name)
        writer.event(rec)
    writer.close(len(records))
    return Trace.open(path)


def test_every_member_of_an_event_comes_back(tmp_path: Path) -> None:
    rec = record(
        0,
        {"model": "m", "temperature": 1.0},
        after=3,
        parent=2,
        branch=[1, 2],
        ticks=(4, 7),
        time=12.5,
        ms=3.25,
        upstream="somewhere",
        attempt=2,
        meta={"node": "a"},
        opaque_request=b"\xff\x00",
        wire=wire(),
        body=Body(data=b'{"a": [1,2]}', split=(3, 12)),
    )
    trace = write(tmp_path / "a.rewind", [rec])
    event = trace[0]
    for (
        name
    ) in "seq kind name ring id after parent branch ticks time ms upstream attempt meta".split():
        assert getattr(event, name) == getattr(rec, name), name
    assert event.request == rec.request
    assert type(event.request["temperature"]) is float
    assert event.opaque_request == b"\xff\x00"
    assert event.wire == rec.wire
    assert event.body == rec.body
    assert event.response == {"a": [1, 2]}
    assert event.error is None
    assert event.value_plain is UNSET
    assert (event.ts, event.duration_ms, event.fingerprint) == (12.5, 3.25, rec.id)
    assert (trace.complete, trace.damage, trace.unfinished, len(trace)) == (True, [], [], 1)
    assert list(trace) == trace.events


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b'{"a":1}\n',
        b'{\n  "a": 1\n}',
        b' {"a":1}',
        b'{"a":1,"a":2}',
        b'{"a":NaN}',
        b'{"a":1e400}',
        b'{"a":"\\ud800"}',
        b"null",
        b'"text"',
        b"\xff\xfe",
        "é\u2028".encode(),
        b'{"a":"\xff"}',
        b'{"a":1e16,"b":1e+16}',
        b"[" * 3000 + b"]" * 3000,
        b'{"x":1,"#":"00000000"}',
    ],
)
def test_a_body_comes_back_byte_for_byte(tmp_path: Path, data: bytes) -> None:
    trace = write(tmp_path / "a", [record(0, {}, wire=wire(), body=Body(data=data))])
    body = trace[0].body
    assert body is not None
    assert body.data == data
    assert trace.damage == []


@given(st.binary(max_size=200))
@settings(max_examples=30, deadline=None)
def test_any_chunk_comes_back(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("t") / "a"
    chunks = [data, b'data: {"a": 1}\n\n', b"event: x\ndata: " + data + b'\n\ndata: {"b":"\n', data]
    with_stream(path, chunks)
    assert Trace.open(path)[0].chunks() == chunks


def with_stream(path: Path, chunks: list[Any], **done: Any) -> None:
    writer = TraceWriter(path)
    writer.start(0, "llm", "n")
    writer.event(
        record(0, {"stream": True}, stream=True, wire=wire(media_type="text/event-stream"))
    )
    for chunk in chunks:
        writer.chunk(0, chunk)
    writer.done(0, ms=5.0, tick=9, chunks=len(chunks), **done)
    writer.close(1)


def test_a_stream_is_its_parsed_events(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with_stream(path, [b'data: {"a":1}\n\nda', b'ta: {"b":2}\n\n', b"data: [DONE]\n\n"])
    event = Trace.open(path)[0]
    assert event.response == [{"a": 1}, {"b": 2}]
    assert (event.ms, event.ticks, event.complete, event.truncated) == (5.0, (0, 0), True, None)
    assert b'"parts":["data: ",{"a":1},' in path.read_bytes()


def test_a_stream_left_early_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with_stream(path, [b"x"], truncated="closed", error={"type": "m:E", "message": "no"})
    event = Trace.open(path)[0]
    assert event.truncated == "closed"
    assert event.error == {"type": "m:E", "message": "no"}


def test_a_function_stream_is_its_values(tmp_path: Path) -> None:
    path = tmp_path / "a"
    writer = TraceWriter(path)
    writer.event(record(0, {}, stream=True))
    writer.chunk(0, Value(plain=to_plain((1, 2))))
    writer.chunk(0, Value(plain=None))
    writer.done(0, ms=1, tick=2, chunks=2)
    writer.close(1)
    event = Trace.open(path)[0]
    assert event.chunks() == [{"$tuple": [1, 2]}, None]
    assert event.response == [(1, 2), None]


def test_a_refused_call_is_an_error_with_its_response(tmp_path: Path) -> None:
    body = Body(data=b'{"error":{"message":"slow down"}}')
    event = write(tmp_path / "a", [record(0, {}, wire=wire(429), body=body)])[0]
    assert event.error == {"type": "http", "status": 429, "message": "slow down"}
    assert event.response == {"error": {"message": "slow down"}}


def test_values_and_errors_of_functions(tmp_path: Path) -> None:
    trace = write(
        tmp_path / "a",
        [
            record(0, {"args": to_plain((1,))}, value=None),
            record(1, {}, value=to_plain({1: {2}})),
            record(2, {}, error={"type": "builtins:ValueError", "message": "x"}),
        ],
    )
    assert [event.response for event in trace] == [None, {1: {2}}, None]
    assert trace[0].value_plain is None
    assert trace[0].request == {"args": (1,)}
    assert trace[2].error == {"type": "builtins:ValueError", "message": "x"}


ITEM = st.sampled_from(
    [1, True, 1.0, "x" * 300, "y" * 300, {"role": "user", "content": "z" * 80}, ["a" * 100, {"b": "x" * 300}],
     {"$dict": {"$run": [0, 0, 0, 1]}}, {"$dict": {"$text": [0, 0]}}, {"$tuple": ["q" * 90] * 3}, {}, []]
)  # fmt: skip
REQUEST = st.fixed_dictionaries(
    {"messages": st.lists(ITEM, max_size=8)},
    optional={
        "tools": st.lists(ITEM, max_size=3),
        "kwargs": st.fixed_dictionaries({"m": st.lists(ITEM, max_size=6)}),
    },
)


@given(st.lists(REQUEST, min_size=1, max_size=8), st.booleans())
@settings(max_examples=60, deadline=None)
def test_any_requests_come_back(
    tmp_path_factory: pytest.TempPathFactory, requests: list[dict[str, Any]], backwards: bool
) -> None:
    path = tmp_path_factory.mktemp("t") / "a"
    trace = write(path, [record(n, request) for n, request in enumerate(requests)])
    pairs = list(zip(trace, requests))
    for event, request in reversed(pairs) if backwards else pairs:
        assert encode(event.request_plain) == encode(request)


def histories(turns: int, change: bool) -> list[dict[str, Any]]:
    rnd = random.Random(1)
    history: list[Any] = []
    requests: list[dict[str, Any]] = []
    for turn in range(turns):
        text = "".join(rnd.choices(string.ascii_letters, k=2048))
        history.append({"role": "user", "content": text})
        system = {"role": "system", "content": f"turn {turn if change else 0} " + "s" * 100}
        requests.append({"model": "m", "messages": [system, *history]})
        history.append({"role": "assistant", "content": "ok"})
    return requests


@pytest.mark.parametrize("change", [False, True], ids=["prefix", "changing first message"])
@pytest.mark.parametrize("nested", [False, True], ids=["top level", "nested"])
def test_size_is_linear(tmp_path: Path, change: bool, nested: bool) -> None:
    requests = histories(200, change)
    if nested:
        requests = [{"args": {"$tuple": [request["messages"]]}} for request in requests]
    trace = write(tmp_path / "a", [record(n, r) for n, r in enumerate(requests)])
    assert (tmp_path / "a").stat().st_size <= 1.3 * 200 * 2048
    assert encode(trace[-1].request_plain) == encode(requests[-1])
    for event, request in zip(trace, requests):
        assert encode(event.request_plain) == encode(request)


def test_identity_of_a_read_request_is_that_of_the_written_one(tmp_path: Path) -> None:
    requests = histories(20, change=False)
    trace = write(tmp_path / "a", [record(n, r) for n, r in enumerate(requests)])
    identity = RequestIdentity()
    for event, request in zip(trace, requests):
        assert request_id(b"h", event.request_plain) == identity.id(b"h", request)


def test_events_are_in_the_order_of_their_starts(tmp_path: Path) -> None:
    shared = [{"role": "user", "content": "x" * 400}] * 2
    trace = write(
        tmp_path / "a",
        [record(1, {"m": shared}), record(0, {"m": shared}), record(2, {"m": shared})],
    )
    assert [event.seq for event in trace] == [0, 1, 2]
    assert [event.request for event in trace] == [{"m": shared}] * 3


def test_a_dump_is_the_same_trace(tmp_path: Path) -> None:
    trace = write(tmp_path / "a", [record(0, {"m": [1]})])
    trace.dump(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert Trace.load(tmp_path / "b")[0].request == {"m": [1]}


def test_an_open_trace_survives_its_file_being_replaced(tmp_path: Path) -> None:
    trace = write(tmp_path / "a", [record(0, {"m": [1]})])
    write(tmp_path / "b", [record(0, {"m": ["another"]})])
    os.replace(tmp_path / "b", tmp_path / "a")
    assert trace[0].request == {"m": [1]}


def test_the_header_carries_what_the_user_gave(tmp_path: Path) -> None:
    writer = TraceWriter(
        tmp_path / "a", mode="fork", meta={"k": 1}, forked_from={"path": "x", "at": 2}
    )
    writer.close(0)
    trace = Trace.open(tmp_path / "a")
    assert (trace.meta, trace.version, trace.header.mode) == ({"k": 1}, 1, "fork")
    assert trace.header.forked_from == {"path": "x", "at": 2}
    assert len(trace.header.id) == 32


@pytest.mark.parametrize("kind", ["wire", "value"])
def test_an_answer_that_is_sent_back_stands_once(tmp_path: Path, kind: str) -> None:
    rnd = random.Random(2)
    history: list[Any] = []
    records: list[EventRecord] = []
    for seq in range(50):
        history.append({"role": "user", "content": "q" * seq})
        answer = "".join(rnd.choices(string.ascii_letters, k=2048))
        reply = {"n": [1, {"content": answer}], "ref": {"$dict": {"$text": [0, 0]}}}
        outcome: dict[str, Any] = {"value": reply}
        if kind == "wire":
            outcome = {"wire": wire(), "body": Body(data=encode({"choices": [{"text": answer}]}))}
        records.append(record(seq, {"m": list(history), "s": "s" * 300}, **outcome))
        history.append({"role": "assistant", "content": answer})
    trace = write(tmp_path / "a", records)
    assert (tmp_path / "a").stat().st_size < 1.35 * 50 * 2048
    for event, rec in zip(reversed(trace.events), reversed(records)):
        assert encode(event.request_plain) == encode(rec.request)


@pytest.mark.parametrize("compression", ["gzip", "zstd"])
def test_a_compressed_trace_is_read_like_any_other(tmp_path: Path, compression: Any) -> None:
    if compression == "zstd":
        pytest.importorskip("zstandard")
    trace = write(tmp_path / "a", [record(n, {"m": ["x" * 900] * n}) for n in range(9)])
    packed = trace.dump(tmp_path / "b", compression=compression)
    assert packed.stat().st_size < (tmp_path / "a").stat().st_size / 2
    again = Trace.open(packed)
    assert again.path == packed
    assert [e.request for e in again] == [e.request for e in trace]
    packed.write_bytes(packed.read_bytes()[:60])
    with pytest.raises(TraceFormatError, match=r"b: "):
        Trace.open(packed)
