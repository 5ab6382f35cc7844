"""Concurrent agents replay under strict: gathers, nested gathers, pools, threads."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import rewind

RUNS = 100


async def turns(n: int) -> None:
    for _ in range(n):
        await asyncio.sleep(0)


class Scripted:
    """An async model with a scripted latency (in loop turns) and an answer of its own per call."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.calls = 0

    def decorated(self) -> Callable[..., Any]:
        @rewind.llm(name="ask")
        async def ask(q: str) -> str:
            self.calls += 1
            mine = self.calls
            await turns(self.random.randrange(20))
            return f"{q}:{mine}"

        return ask


async def gather_agent(ask: Callable[..., Any]) -> list[str]:
    return await asyncio.gather(*(ask(f"q{i}") for i in range(50)))


async def twins_agent(ask: Callable[..., Any]) -> list[str]:
    return await asyncio.gather(*(ask("same") for _ in range(8)))


async def nested_agent(ask: Callable[..., Any]) -> list[list[str]]:
    async def branch(i: int) -> list[str]:
        plan = await ask(f"plan {i}")
        rest = await asyncio.gather(*(ask("step") for _ in range(3)))
        return [plan, *rest, await ask(f"sum {rest}")]

    return await asyncio.gather(*(branch(i) for i in range(4)))


async def workers_agent(ask: Callable[..., Any]) -> list[str]:
    queue: asyncio.Queue[int] = asyncio.Queue()
    for i in range(20):
        queue.put_nowait(i)
    results: list[str] = []

    async def worker() -> None:
        while not queue.empty():
            results.append(await ask(f"job {queue.get_nowait()}"))

    await asyncio.gather(*(worker() for _ in range(4)))
    return results


async def completed_agent(ask: Callable[..., Any]) -> list[str]:
    results: list[str] = []
    for done in asyncio.as_completed([ask(f"q{i}") for i in range(6)]):
        answer = await done
        results.append(await ask(f"then {answer} after {len(results)}"))
    return results


@pytest.mark.parametrize(
    "agent", [gather_agent, twins_agent, nested_agent, workers_agent, completed_agent]
)
def test_a_concurrent_async_agent_replays_every_time(agent: Any, tmp_path: Path) -> None:
    for seed in range(RUNS):
        model = Scripted(seed)
        ask = model.decorated()
        path = tmp_path / f"{seed}.rewind"
        with rewind.record(path):
            recorded = asyncio.run(agent(ask))
        calls = model.calls
        with rewind.replay(path, require_full_consumption=True):
            replayed = asyncio.run(agent(ask))
        assert replayed == recorded, seed
        assert model.calls == calls


def test_identical_pool_jobs_keep_their_own_answers(tmp_path: Path) -> None:
    for seed in range(RUNS):
        count = iter(range(1000))

        @rewind.tool(name="job")
        def job(q: str) -> str:
            return f"{q}:{next(count)}"  # noqa: B023

        path = tmp_path / f"{seed}.rewind"

        def agent() -> list[str]:
            with ThreadPoolExecutor(4) as pool:
                return list(pool.map(job, ["same"] * 8))

        with rewind.record(path):
            recorded = agent()
        with rewind.replay(path, require_full_consumption=True):
            assert agent() == recorded


def test_calls_in_threads_and_executors_are_recorded_and_served(tmp_path: Path) -> None:
    live: list[str] = []

    @rewind.tool(name="work")
    def work(where: str) -> str:
        live.append(where)
        return where.upper()

    def agent() -> list[str]:
        results: list[str] = []
        thread = threading.Thread(target=lambda: results.append(work("thread")))
        thread.start()
        thread.join()
        with ThreadPoolExecutor(2) as pool:
            results.append(pool.submit(work, "pool").result())

        async def main() -> None:
            results.append(await asyncio.to_thread(work, "to_thread"))
            loop = asyncio.get_running_loop()
            results.append(await loop.run_in_executor(None, work, "executor"))

        asyncio.run(main())
        return results

    path = tmp_path / "run.rewind"
    with rewind.record(path):
        recorded = agent()
    assert len(live) == 4
    with rewind.replay(path, require_full_consumption=True):
        assert agent() == recorded
    assert len(live) == 4


def test_a_thread_from_before_the_session_is_left_alone(tmp_path: Path) -> None:
    @rewind.tool(name="work")
    def work(x: str) -> str:
        return x

    go, done = threading.Event(), threading.Event()

    def server() -> None:
        go.wait(10)
        for _ in range(20):
            work("other request")
        done.set()

    thread = threading.Thread(target=server)
    thread.start()
    path = tmp_path / "run.rewind"
    with pytest.warns(rewind.ThreadlessCallWarning), rewind.record(path):
        work("mine")
        go.set()
        done.wait(10)
        work("mine too")
    thread.join()
    assert [e.request["x"] for e in rewind.Trace.open(path)] == ["mine", "mine too"]
