"""Recorded provider traffic as data: one request and the response it got, byte for byte.

The JSON form is one object per file: `{"request": {method, path, json}, "response": {status,
headers, body | chunks[, encoding]}}`, or `{"steps": [such objects]}` for a whole run.
"""

from __future__ import annotations

import base64
import json
import threading
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Interaction", "Split", "load", "sample", "samples"]

_HERE = "rewind.testing"


class Split(Enum):
    """Where a response's body is cut into the chunks that are sent one by one."""

    EVENTS = "events"
    """As recorded: one chunk per server-sent event; a plain body is one chunk."""
    SEVEN_BYTES = "7 bytes"
    """Every seven bytes, through lines and characters."""
    WHOLE = "whole"
    """All in one."""


@dataclass(frozen=True, kw_only=True)
class Interaction:
    """One request as it was recorded and the response to play for it.

    `request` is the JSON body, None for any. `path` includes the query. `gates` hold back chunk n
    until the event is set, `latency` holds back the head (seconds). With `drop_after=n` the
    connection breaks after n chunks.
    """

    method: str = "POST"
    path: str
    request: Any = None
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
    chunks: tuple[bytes, ...] = ()
    streamed: bool = False
    latency: float = 0.0
    gates: Mapping[int, threading.Event] = field(default_factory=dict[int, threading.Event])
    drop_after: int | None = None

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Interaction:
        """An interaction in the JSON form described above."""
        request, response = data["request"], data["response"]
        streamed = "chunks" in response
        chunks = response["chunks"] if streamed else [_body_text(response.get("body"))]
        as_base64 = response.get("encoding") == "base64"
        return cls(
            method=request["method"],
            path=request["path"],
            request=request.get("json"),
            status=response["status"],
            headers=tuple(response["headers"].items()),
            chunks=tuple(
                base64.b64decode(chunk) if as_base64 else chunk.encode() for chunk in chunks
            ),
            streamed=streamed,
        )

    @classmethod
    def answer(cls, path: str, body: object, *, status: int = 200, **more: Any) -> Interaction:
        """A JSON answer to any request on `path`; `more` are the other fields."""
        return cls(path=path, status=status, chunks=(_body_text(body).encode(),), **more)

    def having(self, **changes: Any) -> Interaction:
        """A copy with some fields changed."""
        return replace(self, **changes)

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    def split(self, how: Split) -> tuple[bytes, ...]:
        """The chunks to send."""
        if how is Split.EVENTS:
            return self.chunks
        body = self.body
        if how is Split.WHOLE:
            return (body,)
        return tuple(body[start : start + 7] for start in range(0, len(body), 7))


def _body_text(body: object) -> str:
    if body is None:
        return ""
    if isinstance(body, str):
        return body
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def load(path: str | Path) -> list[Interaction]:
    """The interactions of a file: one, or all steps of a run in their order."""
    return _parse(Path(path).read_text(encoding="utf-8"))


def _parse(text: str) -> list[Interaction]:
    data = json.loads(text)
    return [Interaction.from_json(step) for step in data.get("steps", [data])]


def samples() -> list[str]:
    """Names of the runs that ship with this package."""
    folder = resources.files(_HERE) / "data"
    return sorted(
        entry.name.removesuffix(".json")
        for entry in folder.iterdir()
        if entry.name.endswith(".json")
    )


def sample(name: str) -> list[Interaction]:
    """A shipped run by name (see `samples`)."""
    file = resources.files(_HERE) / "data" / f"{name}.json"
    return _parse(file.read_text(encoding="utf-8"))
