"""Concurrent agents replay under strict: gathers, nested gathers, pools, threads."""

from __future__ import annotations

import asyncio
import contextvars
import random
import sys
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

import rewind
from rewind.integrations import patched

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


@pytest.mark.parametrize("start", ["tasks", "group"])
def test_twins_that_arrive_in_another_order_keep_their_answers(start: str, tmp_path: Path) -> None:
    """What a task does before its first call (a thread, a lock) decides when it arrives."""

    async def agent(ask: Callable[..., Any], order: tuple[int, ...]) -> list[str]:
        turns = [asyncio.Event() for _ in range(5)]
        turns[order[0]].set()

        async def one(me: int) -> str:
            await turns[me].wait()
            asking = asyncio.ensure_future(ask("same"))
            await asyncio.sleep(0)
            if order.index(me) + 1 < len(order):
                turns[order[order.index(me) + 1]].set()
            return await asking  # type: ignore[no-any-return]

        if start == "tasks":
            return await asyncio.gather(*(one(i) for i in range(4)), one(4))
        async with anyio.create_task_group() as group:
            results: dict[int, str] = {}

            async def keep(i: int) -> None:
                results[i] = await one(i)

            for i in range(5):
                group.start_soon(keep, i)
        return [results[i] for i in range(5)]

    model = Scripted(0)
    ask = model.decorated()
    with rewind.record(tmp_path / "run.rewind"):
        recorded = asyncio.run(agent(ask, (0, 1, 2, 3, 4)))
    with rewind.replay(tmp_path / "run.rewind", require_full_consumption=True):
        assert asyncio.run(agent(ask, (3, 1, 4, 0, 2))) == recorded


def test_twins_in_jobs_with_contexts_of_their_own_keep_their_answers(tmp_path: Path) -> None:
    """Frameworks run their jobs in copies of the context that they make themselves."""
    model = Scripted(0)
    ask = model.decorated()

    def agent(order: tuple[int, ...]) -> list[str]:
        doors = [threading.Event() for _ in order]
        doors[order[0]].set()

        def one(me: int) -> str:
            doors[me].wait()
            answer: str = asyncio.run(ask("same"))
            if order.index(me) + 1 < len(order):
                doors[order[order.index(me) + 1]].set()
            return answer

        contexts = [contextvars.copy_context() for _ in order]
        with ThreadPoolExecutor(len(order)) as pool:
            jobs = [pool.submit(lambda me: contexts.pop().run(one, me), i) for i in sorted(order)]
            return [job.result() for job in jobs]

    with rewind.record(tmp_path / "run.rewind"):
        recorded = agent((0, 1, 2, 3, 4))
    with rewind.replay(tmp_path / "run.rewind", require_full_consumption=True):
        assert agent((3, 1, 4, 0, 2)) == recorded


@pytest.mark.skipif(sys.version_info < (3, 11), reason="create_task(context=) is new in 3.11")
def test_twins_in_tasks_with_contexts_of_their_own_keep_their_answers(tmp_path: Path) -> None:
    model = Scripted(0)
    ask = model.decorated()

    async def agent(order: tuple[int, ...]) -> list[str]:
        doors = [asyncio.Event() for _ in order]
        doors[order[0]].set()

        async def one(me: int) -> str:
            await doors[me].wait()
            if order.index(me) + 1 < len(order):
                doors[order[order.index(me) + 1]].set()
            return await ask("same")  # type: ignore[no-any-return]

        loop: Any = asyncio.get_running_loop()
        jobs = [loop.create_task(one(i), context=contextvars.copy_context()) for i in sorted(order)]
        return await asyncio.gather(*jobs)

    with rewind.record(tmp_path / "run.rewind"):
        recorded = asyncio.run(agent((0, 1, 2, 3, 4)))
    with rewind.replay(tmp_path / "run.rewind", require_full_consumption=True):
        assert asyncio.run(agent((3, 1, 4, 0, 2))) == recorded


def test_a_fork_of_a_concurrent_agent_replays_every_time(tmp_path: Path) -> None:
    for seed in range(RUNS):
        model = Scripted(seed)
        ask = model.decorated()
        path, fixed = tmp_path / f"{seed}.rewind", tmp_path / f"{seed}.fixed.rewind"
        with rewind.record(path):
            recorded = asyncio.run(completed_agent(ask))
        with rewind.fork(path, at=11, save_as=fixed):
            forked = asyncio.run(completed_agent(ask))
        assert forked[:5] == recorded[:5], seed
        with rewind.replay(fixed, require_full_consumption=True):
            assert asyncio.run(completed_agent(ask)) == forked, seed


class Slow(httpx2.AsyncBaseTransport):
    """Streams three chunks, each after a scripted number of loop turns."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        async def chunks() -> AsyncIterator[bytes]:
            for text in (b"data: {}\n\n", b"data: {}\n\n", b"data: [DONE]\n\n"):
                await turns(self.random.randrange(8))
                yield text

        sse = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=sse, content=chunks())


async def streams_agent(seed: int) -> list[str]:
    order: list[str] = []
    async with httpx2.AsyncClient(transport=Slow(seed)) as client:

        async def ask(q: str) -> str:
            body = {"model": "m", "messages": [{"role": "user", "content": q}], "stream": True}
            url = "https://api.openai.com/v1/chat/completions"
            async with client.stream("POST", url, json=body) as response:
                assert [chunk async for chunk in response.aiter_raw()]
            return q

        for done in asyncio.as_completed([ask(f"q{i}") for i in range(6)]):
            order.append(await ask(f"then {await done} after {len(order)}"))
    return order


def test_streams_end_in_the_recorded_order(tmp_path: Path) -> None:
    with patched("openai"):
        for seed in range(RUNS):
            path = tmp_path / f"{seed}.rewind"
            with rewind.record(path):
                recorded = asyncio.run(streams_agent(seed))
            with rewind.replay(path, require_full_consumption=True):
                assert asyncio.run(streams_agent(-1)) == recorded, seed


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
