"""What a decorated function returns comes back as what it was, or is warned of when recorded."""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import math
import pathlib
import threading
import uuid
import warnings
import zoneinfo
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import numpy as np
import pydantic
import pytest

import rewind


class Color(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Flag(enum.Flag):
    A = 1
    B = 2


@dataclass
class Point:
    x: int
    inner: Any = None


class Pair(NamedTuple):
    a: int
    b: tuple[int, ...]


@attrs.define
class Attrs:
    x: int


class Model(pydantic.BaseModel):
    x: int
    when: dt.datetime | None = None
    rest: dict[str, Any] = {}


class Words(str):
    __slots__ = ()


class Box(dict[str, int]):
    pass


UTC = dt.timezone.utc
KEPT = [
    dt.datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC), dt.date(2026, 1, 2), dt.time(3, 4),
    dt.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Oslo")), dt.datetime(2026, 1, 1, fold=1),
    dt.datetime(2026, 10, 25, 2, 30, tzinfo=zoneinfo.ZoneInfo("Europe/Oslo"), fold=1),
    dt.timedelta(days=-1, microseconds=5), uuid.UUID(int=7), decimal.Decimal("1.10"), Color.RED,
    Level.LOW, Flag.A | Flag.B, pathlib.Path("/a/b"), b"\x00\xff", bytearray(b"x"), (1, (2,)), {1},
    frozenset({(1, 2)}), math.inf, -0.0, 10**100, "\ud800", {1: "a", "1": "b", (2, 3): "c"},
    {"$run": [1]}, Point(1, [Point(2)]), Pair(1, (2,)), Attrs(3), Model(x=1, rest={"a": (1,)}),
    collections.OrderedDict([("b", 1), ("a", 2)]), collections.Counter("aab"),
    collections.defaultdict(list, {"a": [1]}), collections.deque([1, 2]), complex(1, -2),
    np.float32(1.5), np.float64(1.5), np.str_("s"), np.int64(-3), np.bool_(True), np.datetime64("2026-01-02"),
    {"deep": [{"x": ({"y": {1, 2}},)}]}, None, True, 1, 1.0, "1", [],
]  # fmt: skip
LOST = [
    range(3),
    memoryview(b"ab"),
    threading.Lock(),
    Words("hi"),
    Box(a=1),
    np.array([object()]),
    len,
    int,
]


def round_trip(value: Any, trace: Path) -> Any:
    @rewind.tool
    def give() -> Any:
        return value

    with rewind.record(trace):
        assert give() is value
    with rewind.replay(trace):
        return give()


@pytest.mark.parametrize("value", KEPT, ids=repr)
def test_values_come_back_as_what_they_were(value: Any, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = round_trip(value, tmp_path / "run.rewind")
    assert type(again) is type(value)
    assert repr(again) == repr(value)
    assert again == value


def test_nan_comes_back(tmp_path: Path) -> None:
    assert math.isnan(round_trip(math.nan, tmp_path / "run.rewind"))


@pytest.mark.parametrize(
    "array",
    [np.arange(6).reshape(2, 3), np.array([[1.5, -2]], dtype=">f4"), np.array(["a", "bc"]),
     np.zeros((0, 2)), np.asfortranarray(np.arange(4).reshape(2, 2)), np.array(5)],
    ids=lambda array: f"{array.dtype}{array.shape}",
)  # fmt: skip
def test_arrays_come_back_and_can_be_written_to(array: Any, tmp_path: Path) -> None:
    again = round_trip(array, tmp_path / "run.rewind")
    assert type(again) is np.ndarray
    assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert np.array_equal(again, array)
    again[...] = again


@pytest.mark.parametrize("value", LOST, ids=lambda value: type(value).__name__)
def test_what_cannot_come_back_is_said_when_it_is_recorded(value: Any, tmp_path: Path) -> None:
    with pytest.warns(rewind.LossySerializationWarning, match=type(value).__name__):
        round_trip(value, tmp_path / "run.rewind")


class Rude:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.filterwarnings("ignore::rewind.LossySerializationWarning")
@pytest.mark.parametrize(
    "argument",
    [Rude(), threading.Lock(), threading.Thread(), nested(5000), "\ud800", 10**100, open, iter(())],
    ids=lambda value: type(value).__name__,
)
def test_no_argument_breaks_the_live_call(argument: Any, tmp_path: Path) -> None:
    @rewind.tool
    def take(value: Any) -> int:
        return id(value)

    with rewind.record(tmp_path / "run.rewind"):
        said = take(argument)
        assert said == id(argument)
    with rewind.replay(tmp_path / "run.rewind"):
        assert take(argument) == said


def test_different_values_never_share_an_identity(tmp_path: Path) -> None:
    @rewind.tool
    def take(value: Any) -> None: ...

    values: list[Any] = [
        1, 1.0, True, "1", "True", None, "None", (1,), [1], {1}, frozenset({1}), {"a": 1}, {1: "a"},
        {"1": "a"}, Point(1), {"x": 1, "inner": None}, Level.LOW, Color.RED, "red", b"1",
        bytearray(b"1"), np.int64(1), np.int32(1), np.float64(1), np.array(1), np.array([1]),
        decimal.Decimal(1), dt.date(2026, 1, 1), "2026-01-01", pathlib.Path("1"), 1 + 0j,
        collections.OrderedDict(a=1), collections.Counter(a=1), nested(201), nested(202),
    ]  # fmt: skip
    with rewind.record(tmp_path / "run.rewind"):
        for value in values:
            take(value)
    found: dict[str, Any] = {}
    for value, event in zip(values, rewind.Trace.open(tmp_path / "run.rewind"), strict=True):
        assert event.id not in found, (value, found[event.id])
        found[event.id] = value
