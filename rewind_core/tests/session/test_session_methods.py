"""Everything that can be called can be decorated, and stays what it was."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import rewind


class Store:
    def __init__(self, name: str) -> None:
        self.name = name

    @rewind.memory
    def get(self, key: str, top: int = 3) -> str:
        return f"{self.name} {key} {top}"

    @rewind.memory
    def scan(self, key: str) -> Iterator[str]:
        yield from (self.name, key)

    @rewind.tool
    @classmethod
    def outer_class(cls, x: int) -> str:
        return f"{cls.__name__} {x}"

    @classmethod
    @rewind.tool
    def inner_class(cls, x: int) -> str:
        return f"{cls.__name__} {x}"

    @rewind.tool
    @staticmethod
    def outer_static(x: int) -> int:
        return 2 * x

    @staticmethod
    @rewind.tool
    def inner_static(x: int) -> int:
        return 2 * x

    @rewind.llm
    def __call__(self, x: int) -> int:
        return x


class Special(Store):
    pass


@dataclass
class Region:
    name: str

    @rewind.tool
    def ask(self, x: str) -> str:
        return f"{self.name} {x}"


class Model:
    def __call__(self, q: int) -> int:
        return q + 1


def add(a: int, b: int = 2) -> int:
    return a + b


model = rewind.llm(Model())
partial = rewind.tool(functools.partial(add, b=5))
bound = rewind.memory(Store("bound").get)


def agent() -> list[Any]:
    store = Store("s")
    return [
        store.get("a"), store.get(key="a", top=3), list(store.scan("k")), store(5),
        Store.outer_class(1), Special.outer_class(1), Store.inner_class(1), Special.inner_class(1),
        store.outer_static(3), Store.inner_static(3), Region("eu").ask("x"), Region("us").ask("x"),
        model(1), partial(1), bound("z"),
    ]  # fmt: skip


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "run.rewind"


def test_methods_partials_and_callables(trace: Path) -> None:
    bare = agent()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with rewind.record(trace):
            assert agent() == bare
        with rewind.replay(trace, require_full_consumption=True):
            assert agent() == bare
    events = rewind.Trace.load(trace).events
    assert [event.name for event in events if event.parent is None][-3:] == [
        "Model",
        "add",
        "Store.get",
    ]
    assert events[0].request == {"self": f"{__name__}:Store", "key": "a", "top": 3}
    assert events[5].request == {"cls": f"{__name__}:Special", "x": 1}
    assert events[10].request == {"self": Region("eu"), "x": "x"}


def test_the_object_of_a_call_tells_it_from_another(trace: Path) -> None:
    with rewind.record(trace):
        Region("eu").ask("x")
    with rewind.replay(trace), pytest.raises(rewind.DivergenceError, match="self"):
        Region("us").ask("x")


def test_an_argument_without_a_name_reaches_the_function(trace: Path) -> None:
    @rewind.tool
    def take(**given: int) -> dict[str, int]:
        return given

    with rewind.record(trace):
        assert take(**{"": 1}) == {"": 1}
