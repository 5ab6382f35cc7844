"""The types that a user's checker sees. mypy reads this file; nothing runs it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from typing_extensions import assert_type

import rewind


@rewind.llm
def ask(question: str, *, model: str = "m") -> dict[str, str]:
    return {"answer": question + model}


@rewind.tool(name="weather")
async def look_up(city: str) -> float:
    return float(len(city))


@rewind.memory
def search(query: str, limit: int = 3) -> list[str]:
    return [query] * limit


def a_decorated_function_keeps_its_signature() -> None:
    assert_type(ask("hi", model="other"), dict[str, str])
    assert_type(search("hi", 2), list[str])
    assert_type(asyncio.run(look_up("Oslo")), float)
    ask(1)  # type: ignore[arg-type]
    search(limit="x")  # type: ignore[call-arg, arg-type]


def sessions_are_context_managers(path: Path) -> None:
    with rewind.record(path, meta={"ticket": 7}) as session:
        assert_type(session, rewind.Session)
    with rewind.replay("run.rewind", match="strict", retries="final") as session:
        assert_type(session, rewind.Session)
    with rewind.fork(path, at=3, save_as="new.rewind") as session:
        assert_type(session, rewind.Session)
    assert_type(rewind.current_session(), "rewind.Session | None")
    rewind.replay(path, retries="some")  # type: ignore[arg-type]


async def sessions_are_async_context_managers(path: Path) -> None:
    async with rewind.record(path) as session:
        assert_type(session, rewind.Session)


def a_trace_is_a_sequence_of_events(path: Path) -> None:
    trace = rewind.Trace.open(path)
    assert_type(trace, rewind.Trace)
    assert_type(len(trace), int)
    assert_type(iter(trace), Iterator[rewind.Event])
    event = trace[0]
    assert_type(event, rewind.Event)
    assert_type(event.seq, int)
    assert_type(event.kind, str)
    assert_type(event.name, str)
    assert_type(event.request, dict[str, Any])
    assert_type(event.error, "dict[str, Any] | None")


def traces_are_compared_and_counted(path: Path) -> None:
    diff = rewind.diff_traces(path, rewind.Trace.load("other.rewind"))
    assert_type(diff, rewind.TraceDiff)
    assert_type(diff.first_divergence, "rewind.DiffEntry | None")
    assert_type(rewind.render_text(diff), str)
    assert_type(rewind.account(rewind.Trace.load(path)), rewind.Accounting)


def patching_returns_what_undoes_it() -> None:
    assert_type(rewind.patch_openai(), Callable[[], None])
    assert_type(rewind.auto_patch("anthropic"), Callable[[], None])


def a_miss_is_no_exception() -> None:
    try:
        ask("hi")
    except rewind.DivergenceError as miss:
        assert_type(miss.step, int)
        assert_type(miss.reason, str)
    broken: type[Exception] = rewind.DivergenceError  # type: ignore[assignment]
    assert_type(broken, type[Exception])
