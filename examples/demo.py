"""`make demo`: a real agent is recorded, replayed with its provider gone, forked, compared, counted.

The agent is LangChain's `create_agent` (it runs on LangGraph) over the real OpenAI SDK and real
HTTP. The provider is a local stand-in, so no key and no network are needed. With
REWIND_DEMO_LIVE=1 and OPENAI_API_KEY the same script talks to OpenAI. With REWIND_CORPUS it also
plays one run that was recorded from the real provider.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import openai
from langchain.agents import create_agent
from langchain.tools import tool
from langchain_openai import ChatOpenAI
from rich.console import Console
from rich.markup import escape
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table

import rewind
from rewind.formats import read
from rewind.testing import StandIn, load, sample

if TYPE_CHECKING:
    from collections.abc import Iterator

LIVE = os.environ.get("REWIND_DEMO_LIVE", "") not in ("", "0")
QUESTION = "I am in Paris and free this weekend. Oslo or Lisbon? Find me a flight."
CORPUS_RUN = "openai-chat-tool-search-8-steps"
FORECAST = {"Oslo": "3 °C, fresh snow", "Lisbon": "24 °C, sunny"}
FLIGHTS = {"Oslo": "SK 836, 112 €", "Lisbon": "TP 431, 89 €"}

console = Console(width=min(Console().width, 110), highlight=False)
dialled: list[object] = []


# --- the agent: nothing in it knows about rewind, but for the two decorators on its tools


@tool
@rewind.tool
def get_weather(city: str) -> str:
    """The weekend's weather in a city."""
    return FORECAST[city]


@tool
@rewind.tool
def find_flight(origin: str, destination: str) -> str:
    """The cheapest flight this weekend."""
    return f"{origin} to {destination}: {FLIGHTS[destination]}"


def run_agent(base_url: str | None) -> str:
    """Asks the agent; the model is wherever `base_url` points (None: the real provider)."""
    key = os.environ.get("OPENAI_API_KEY", "") if LIVE else "no-key-needed"
    model = ChatOpenAI(model="gpt-4o-mini", base_url=base_url, api_key=key, max_retries=0)
    agent = create_agent(model, [get_weather, find_flight])
    # One tool at a time, so that the steps stand in the same order in every run of the demo.
    one_by_one = {"max_concurrency": 1}
    answer = agent.invoke({"messages": [("user", QUESTION)]}, one_by_one)
    return answer["messages"][-1].text


# --- the show


@dataclass
class Timer:
    ms: float = 0.0


@contextlib.contextmanager
def measured() -> Iterator[Timer]:
    timer, start = Timer(), time.perf_counter()
    dialled.clear()
    yield timer
    timer.ms = (time.perf_counter() - start) * 1000


@contextlib.contextmanager
def provider(name: str) -> Iterator[StandIn | None]:
    """The stand-in that plays a shipped run, or None where the demo is live."""
    if LIVE:
        yield None
        return
    with StandIn(sample(name)) as standin:
        yield standin


def url_of(standin: StandIn | None) -> str | None:
    return None if standin is None else f"{standin.url}/v1"


def steps(trace: rewind.Trace, title: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in ("step", "kind", "name", "ms"):
        table.add_column(column, style="dim", no_wrap=True)
    table.add_column("what came back", ratio=1)
    for event in trace.events:
        color = "cyan" if event.kind == "llm" else "green"
        took = f"{event.duration_ms:.0f}"
        table.add_row(str(event.seq), f"[{color}]{event.kind}", event.name, took, came_back(event))
    return table


def came_back(event: rewind.Event) -> str:
    if event.kind != "llm":
        return escape(str(event.response))
    reading = read(event)
    calls = [f"calls [bold]{call.name}[/] {escape(call.arguments)}" for call in reading.tool_calls]
    text = textwrap.shorten(reading.text or "", 180, placeholder=" …")
    return "\n".join([*calls, *([escape(text)] if text else [])])


def record(file: Path) -> str | None:
    console.print(Rule("[bold]1  record", align="left"))
    with provider("openai-chat-tools") as standin:
        with measured() as timer, rewind.record(file, meta={"demo": "weekend trip"}):
            answer = run_agent(url_of(standin))
        where = "OpenAI" if standin is None else f"the stand-in at {standin.url}"
        asked = len(dialled) if standin is None else len(standin.requests)
    console.print(Panel(escape(answer), title=f"asked: {QUESTION}", title_align="left"))
    console.print(steps(rewind.Trace.load(file), f"{file.name}, from {where}"))
    console.print(f"{asked} requests went out; {timer.ms:.0f} ms.\n")
    return url_of(standin)


def replay(file: Path, gone: str | None) -> bool:
    console.print(Rule("[bold]2  replay, offline", align="left"))
    with measured() as timer, rewind.replay(file) as session:
        answer = run_agent(gone)
    if gone is not None:
        console.print(f"The server at {gone} has stopped. The agent ran again, unchanged:")
    console.print(
        f"{session.cursor} of {len(rewind.Trace.load(file))} steps served, "
        f"[bold green]{len(dialled)} connections[/], {timer.ms:.0f} ms, and this answer:"
    )
    console.print(Panel(escape(answer)))
    return not dialled


def fork(file: Path, forked: Path) -> None:
    console.print(Rule("[bold]3  change one thing, and fork", align="left"))
    console.print(
        "The first step is served from the recording; from there on the run is live,\n"
        "with a storm in Lisbon instead of 24 °C."
    )
    FORECAST["Lisbon"] = "storm, ferries and trams suspended"
    with (
        provider("openai-chat-tools-changed") as standin,
        rewind.fork(file, at=1, save_as=forked) as session,
    ):
        answer = run_agent(url_of(standin))
    live = ", ".join(f"{event.seq} {event.name}" for event in session.new_events)
    console.print(f"live steps: {live}", soft_wrap=True)
    console.print(Panel(escape(answer)))


def compare(file: Path, forked: Path) -> None:
    console.print(Rule("[bold]4  diff", align="left"))
    diff = rewind.diff_traces(file, forked)
    console.print(diff.summary())
    for entry in diff.entries:
        if entry.op == "equal":
            continue
        console.print(f"[bold]step {entry.step}[/]  {entry.op}")
        for sign, color, event in (("-", "red", entry.a), ("+", "green", entry.b)):
            if event is not None:
                console.print(f"  [{color}]{sign} {event.name}: {came_back(event)}")
    console.print()


def cost(*files: Path) -> None:
    console.print(Rule("[bold]5  cost", align="left"))
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("trace", "model", "calls", "input", "output", "estimated cost"):
        table.add_column(column, justify="left" if column in ("trace", "model") else "right")
    for file in files:
        for usage in rewind.account(rewind.Trace.load(file)).per_model:
            price = "unknown" if usage.cost is None else f"${usage.cost:.6f}"
            counts = (usage.calls, usage.input_tokens, usage.output_tokens)
            table.add_row(file.name, usage.model, *map(str, counts), price)
    console.print(table)
    console.print("A replay costs nothing.\n")


def drive(client: openai.OpenAI, requests: list[dict[str, Any]]) -> list[str]:
    """The answers to a recorded run's own requests."""
    return [client.chat.completions.create(**request).to_json() for request in requests]


def real_run(corpus: Path, folder: Path) -> bool:
    """Records and replays a run whose traffic came from the real provider."""
    interactions = load(corpus / "runs" / f"{CORPUS_RUN}.json")
    requests = [interaction.request for interaction in interactions]
    console.print(Rule(f"[bold]6  a run from the real provider: {CORPUS_RUN}", align="left"))
    file = folder / "real.rewind"
    with StandIn(interactions) as standin:
        client = openai.OpenAI(api_key="no-key-needed", base_url=f"{standin.url}/v1")
        with client, rewind.record(file):
            recorded = drive(client, requests)
    client = openai.OpenAI(api_key="another-key", base_url=f"{standin.url}/v1")
    with measured() as timer, client, rewind.replay(file):
        replayed = drive(client, requests)
    console.print(steps(rewind.Trace.load(file), file.name))
    same = recorded == replayed
    console.print(
        f"{len(requests)} steps replayed with the server gone in {timer.ms:.0f} ms: "
        f"{len(dialled)} connections, answers {'identical' if same else 'DIFFERENT'}.\n"
    )
    return same and not dialled


def main() -> int:
    if LIVE and not os.environ.get("OPENAI_API_KEY"):
        console.print("REWIND_DEMO_LIVE=1 needs OPENAI_API_KEY.")
        return 2
    sys.addaudithook(lambda name, args: dialled.append(args) if name == "socket.connect" else None)
    folder = Path(tempfile.mkdtemp(prefix="rewind-demo-"))
    file, forked = folder / "trip.rewind", folder / "storm.rewind"
    rewind.patch_openai()

    gone = record(file)
    well = replay(file, gone)
    fork(file, forked)
    compare(file, forked)
    cost(file, forked)
    corpus = os.environ.get("REWIND_CORPUS", "")
    if corpus and Path(corpus).is_dir():
        well = real_run(Path(corpus), folder) and well
    console.print("The traces are yours to look at, with .venv/bin on your PATH:")
    for command in (f"show {file} -v", f"diff {file} {forked}", f"stats {file}"):
        console.print(f"  rewind {command}", soft_wrap=True)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
