"""docs/trace-format.md is enough: a reader made from the page alone reads our files."""

from __future__ import annotations

import hashlib
import json
import random
import zlib
from pathlib import Path
from typing import Any

from rewind.canonical import request_id
from rewind.trace import Body, EventRecord, Trace, TraceWriter, WireRecord


class PageReader:
    """Reads a sound trace with nothing but the standard library, as the page says."""

    def __init__(self, path: Path) -> None:
        self.events: dict[int, dict[str, Any]] = {}
        self.arrays: dict[tuple[int, int], Any] = {}
        for raw in path.read_bytes().splitlines():
            assert raw[-16:] == b',"#":"%08x"}' % zlib.crc32(raw[:-16])
            line = json.loads(raw)
            if "event" in line:
                self.events[line["event"]] = line

    def request(self, number: int) -> Any:
        return self.expand(self.events[number]["request"])

    def expand(self, value: Any) -> Any:
        if isinstance(value, list):
            return [item for part in value for item in self.items(part)]
        if not isinstance(value, dict):
            return value
        if list(value) == ["$text"]:
            event, number = value["$text"]
            return self.texts(event)[number]
        if list(value) == ["$dict"]:
            return {"$dict": {key: self.expand(item) for key, item in value["$dict"].items()}}
        return {key: self.expand(item) for key, item in value.items()}

    def items(self, part: Any) -> list[Any]:
        if isinstance(part, dict) and list(part) == ["$run"]:
            event, number, start, stop = part["$run"]
            return self.array(event, number)[start:stop]
        return [self.expand(part)]

    def array(self, event: int, number: int) -> Any:
        if (event, number) not in self.arrays:
            found = [v for v in self.walk(self.events[event]["request"]) if isinstance(v, list)]
            self.arrays[event, number] = self.expand(found[number])
        return self.arrays[event, number]

    def texts(self, event: int) -> list[str]:
        line = self.events[event]
        found = self.walk(line["request"])
        outcome = line.get("value", line.get("body", {}).get("json"))
        everything = [*found, *self.everything(outcome)]
        return [v for v in everything if isinstance(v, str) and len(v) >= 256]

    def walk(self, request: dict[str, Any]) -> list[Any]:
        return [found for item in request.values() for found in self.inside(item)]

    def inside(self, value: Any) -> list[Any]:
        if isinstance(value, list):
            return [value, *(found for item in value for found in self.inside(item))]
        if not isinstance(value, dict):
            return [value]
        if list(value) in (["$run"], ["$text"]):
            return []
        members = value["$dict"] if list(value) == ["$dict"] else value
        return [found for item in members.values() for found in self.inside(item)]

    def everything(self, value: Any) -> list[Any]:
        parts = value.values() if isinstance(value, dict) else value
        if isinstance(value, (dict, list)):
            return [found for item in parts for found in self.everything(item)]
        return [value]


def page_identity(head: bytes, request: dict[str, Any]) -> str:
    def h(data: bytes) -> bytes:
        return hashlib.blake2b(data, digest_size=16).digest()

    def canonical(value: Any) -> bytes:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

    def framed(data: bytes) -> bytes:
        return len(data).to_bytes(8, "big") + data

    out = framed(head)
    for name in sorted(request):
        out += framed(name.encode())
        if isinstance(request[name], list):
            link = bytes(16)
            for element in request[name]:
                link = h(link + h(canonical(element)))
            out += b"[" + link
        else:
            out += b"=" + h(canonical(request[name]))
    return h(out).hex()


def requests(turns: int) -> list[dict[str, Any]]:
    rnd = random.Random(3)
    history: list[Any] = [{"role": "system", "content": "s" * 300}]
    made: list[dict[str, Any]] = []
    for turn in range(turns):
        part = {"type": "text", "text": chr(65 + turn) * rnd.choice([20, 300, 400])}
        history.append({"role": "user", "content": [part, {"$dict": {"$run": [turn, "é" * 260]}}]})
        if turn % 4 == 3:
            history[1] = {"role": "user", "content": f"{turn}"}
        nested = {"$tuple": [list(history), 1.5]}
        made.append({"model": "m", "messages": list(history), "args": nested, "t": "t" * 256})
        history.append({"role": "assistant", "content": f"{turn % 2}" * 500})
    return made


def test_a_reader_made_from_the_page(tmp_path: Path) -> None:
    path = tmp_path / "a"
    made = requests(14)
    writer = TraceWriter(path)
    for seq, request in enumerate(made):
        answer = json.dumps({"choices": [{"text": f"{seq % 2}" * 500}]}).encode()
        outcome: dict[str, Any] = {"value": [1, f"{seq % 2}" * 500]}
        if seq % 3:
            wire = WireRecord(method="POST", url="u", request_headers=[], status=200)
            outcome = {"wire": wire, "body": Body(data=answer)}
        record = EventRecord(
            seq=seq, kind="llm", name="n", ring="wire", id="", request=request, **outcome
        )
        writer.event(record)
    writer.close(len(made))
    text = path.read_text()
    assert '"$run":' in text
    assert '"$text":' in text
    page, ours = PageReader(path), Trace.open(path)
    for seq, request in enumerate(made):
        assert page.request(seq) == request
        assert ours[seq].request_plain == request
        assert page_identity(b"head", request) == request_id(b"head", request)
