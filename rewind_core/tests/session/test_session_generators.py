"""Decorated generators and async generators are streams of values."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import rewind

live = 0


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    global live
    live = 0
    return tmp_path / "run.rewind"


@rewind.tool
def inner(n: int) -> int:
    global live
    live += 1
    return n * live


@rewind.llm
def words(n: int) -> Generator[Any, str | None, str]:
    """Yields, asks a tool on the way, and returns."""
    global live
    live += 1
    for number in range(n):
        got = yield (number, inner(number), date(2026, 1, 1 + number))
        if got is not None:
            yield f"heard {got}"
    return f"returned {live}"


@rewind.llm
async def awords(n: int) -> AsyncGenerator[Any, str | None]:
    global live
    live += 1
    for number in range(n):
        await asyncio.sleep(0)
        got = yield (number, live)
        if got is not None:
            yield f"heard {got}"


def take(stream: Generator[Any, Any, Any]) -> tuple[list[Any], Any]:
    items: list[Any] = []
    while True:
        try:
            items.append(next(stream))
        except StopIteration as stop:
            return items, stop.value


def test_values_types_and_the_returned_value_come_back(trace: Path) -> None:
    with rewind.record(trace):
        recorded = take(words(3))
    assert recorded[1] == "returned 4"
    made = live
    with rewind.replay(trace):
        assert take(words(3)) == recorded
    assert live == made
    events = rewind.Trace.load(trace).events
    assert [(event.name, event.parent) for event in events] == [
        ("words", None), ("inner", 0), ("inner", 0), ("inner", 0),
    ]  # fmt: skip
    assert events[0].response == recorded[0]
    assert (events[0].stream, events[0].truncated) == (True, None)


def test_what_is_decorated_is_still_a_generator_function() -> None:
    assert inspect.isgeneratorfunction(words)
    assert inspect.isasyncgenfunction(awords)
    assert list(words(0)) == []


def test_nothing_runs_before_the_first_step_and_items_arrive_one_by_one(trace: Path) -> None:
    with rewind.record(trace):
        stream = words(3)
        assert live == 0
        next(stream)
        assert live == 2
        assert trace.with_name("run.rewind.partial").read_text().count('{"chunk":0') == 1
        assert len(list(stream)) == 2


def test_a_generator_left_early_is_left_early_again(trace: Path) -> None:
    with rewind.record(trace):
        stream = words(5)
        seen = [next(stream), next(stream)]
        stream.close()
        after = inner(7)
    assert rewind.Trace.load(trace)[0].truncated == "closed"
    with rewind.replay(trace):
        stream = words(5)
        assert [next(stream), next(stream)] == seen
        stream.close()
        assert inner(7) == after
    with rewind.replay(trace) as session, pytest.raises(rewind.DivergenceError, match="left"):
        list(words(5))
    assert session.misses


def test_one_open_at_the_end_of_the_session_is_kept(trace: Path) -> None:
    with rewind.record(trace):
        stream = words(5)
        next(stream)
    assert rewind.Trace.load(trace)[0].truncated == "session closed"
    assert len(list(stream)) == 4


def test_an_error_on_the_way_is_raised_after_the_same_items(trace: Path) -> None:
    @rewind.tool
    def broken() -> Iterator[int]:
        yield 1
        raise KeyError("gone")

    for open_session in (rewind.record, rewind.replay):
        items: list[int] = []
        with open_session(trace), pytest.raises(KeyError, match="gone"):
            for item in broken():
                items.append(item)
        assert items == [1]


def test_sent_and_thrown_values_reach_the_live_generator(trace: Path) -> None:
    def talk(stream: Generator[Any, Any, Any]) -> list[Any]:
        said = [next(stream), stream.send("hello")]
        with pytest.raises(ValueError, match="stop"):
            stream.throw(ValueError("stop"))
        return said

    bare = talk(words(2))
    with rewind.record(trace):
        assert talk(words(2))[1] == bare[1] == "heard hello"
    event = rewind.Trace.load(trace)[0]
    assert event.error is not None
    assert event.error["message"] == "stop"


def test_async_generators(trace: Path) -> None:
    async def agent() -> list[Any]:
        async def one(n: int) -> list[Any]:
            return [item async for item in awords(n)]

        several = await asyncio.gather(one(3), one(2), one(3))
        stream = awords(4)
        first = [await anext(stream), await stream.asend("hello")]
        await stream.aclose()
        return [several, first]

    with rewind.record(trace):
        recorded = asyncio.run(agent())
    made = live
    with rewind.replay(trace):
        assert asyncio.run(agent()) == recorded
    assert live == made == 4
    assert recorded[1][1] == "heard hello"
    assert [event.truncated for event in rewind.Trace.load(trace)] == [None, None, None, "closed"]


def test_a_cancelled_async_generator(trace: Path) -> None:
    @rewind.tool
    async def slow() -> AsyncIterator[int]:
        yield 1
        await asyncio.sleep(600)

    async def agent() -> list[int]:
        seen: list[int] = []

        async def read() -> None:
            async for item in slow():
                seen.append(item)

        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(read(), 0.05)
        return seen

    with rewind.record(trace):
        assert asyncio.run(agent()) == [1]
    assert rewind.Trace.load(trace)[0].truncated == "cancelled"
    with rewind.replay(trace):
        assert asyncio.run(agent()) == [1]


def test_a_fork_inside_a_generator_runs_it_with_its_first_calls_served(trace: Path) -> None:
    with rewind.record(trace):
        recorded = take(words(3))
    made = live
    with rewind.fork(trace, at=2, save_as=trace.with_name("fork.rewind")) as session:
        items, _ = take(words(3))
    assert items[0] == recorded[0][0]
    assert live == made + 3
    assert [event.name for event in session.new_events if event.live] == ["words", "inner", "inner"]
    with rewind.replay(trace.with_name("fork.rewind")):
        assert take(words(3))[0] == items


def test_a_fork_copies_a_generator_whole(trace: Path) -> None:
    with rewind.record(trace):
        recorded = take(words(2))
        inner(1)
    fork = trace.with_name("fork.rewind")
    with rewind.fork(trace, at=3, save_as=fork):
        assert take(words(2)) == recorded
        inner(2)
    with rewind.replay(fork):
        assert take(words(2)) == recorded
        inner(2)
