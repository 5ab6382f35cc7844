"""What an adapter is asked to do in the conformance suite, and what comes out of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Protocol

__all__ = ["Capability", "Mode", "Outcome", "Port", "Task", "Toolbox", "Way"]

Mode = Literal["record", "replay", "fork"]


class Capability(Enum):
    """What an adapter may declare. Each has at least one test in the suite."""

    PLAIN = "a plain answer"
    TOOL = "a tool call"
    PARALLEL_TOOLS = "parallel tool calls, also identical ones"
    SUB_AGENT = "an agent that another agent uses"
    STATEFUL_TOOL = "a tool with state of its own, which must run"
    TOOL_ERROR = "an error in a tool"
    MODEL_ERROR = "an error from the model, and a retry after one"
    FALLBACK = "another model that answers after an error"
    STREAM = "a stream"
    STREAM_LEFT_EARLY = "a stream left early"
    ASYNC = "async"
    ASYNC_STREAM = "an async stream"
    STRUCTURED = "structured output"
    MULTIMODAL = "an image in the prompt"
    BATCH = "several prompts at once"
    NO_HTTP = "a model that makes no HTTP call"
    FORK = "a fork at each step"


class Way(Enum):
    """How the agent is run."""

    SYNC = "sync"
    ASYNC = "async"
    STREAM = "stream"
    ASYNC_STREAM = "async stream"

    @property
    def streams(self) -> bool:
        return self in (Way.STREAM, Way.ASYNC_STREAM)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One run of an agent named "assistant".

    `tools` are plain functions with annotations and a docstring. `sub_agent`: a task whose agent,
    named "expert", the assistant can call as a tool with one text argument. `output`: a pydantic
    model that the answer must be. `leave_after`: close the stream after so many chunks. `batch`:
    prompts to run at the same time instead of `prompt`. `fallback`: the model to ask after
    `model` has failed. Without `http` the framework's own fake model answers "Hello there.".
    """

    prompt: str = "What is the weather in Paris?"
    way: Way = Way.SYNC
    model: str = "gpt-4o-mini"
    tools: tuple[Callable[..., Any], ...] = ()
    run_tools: tuple[str, ...] = ()
    sub_agent: Task | None = None
    output: type[Any] | None = None
    image: bytes | None = None
    leave_after: int | None = None
    batch: tuple[str, ...] = ()
    fallback: str | None = None
    max_retries: int = 0
    http: bool = True


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the program saw: the final text or object, the chunks of a stream, the results of
    tools, and an error as the name of its class and its text."""

    text: object = None
    chunks: tuple[str, ...] = ()
    tool_results: tuple[str, ...] = ()
    error: tuple[str, str] | None = None


class Port(Protocol):
    """One adapter and its framework, as the suite drives them."""

    @property
    def classes(self) -> tuple[type, ...]:
        """Classes of the framework that the adapter may touch."""
        ...

    def opened(self, mode: Mode, path: Path, **options: Any) -> AbstractContextManager[Any]:
        """The adapter's session on `path`; yields what `run` needs. `options` are those of
        `rewind.record`, `replay` and `fork`, and `run_tools`."""
        ...

    def run(self, task: Task, url: str, wiring: Any) -> Outcome:
        """Run the task with a model whose API is at `url`, once more with every call; `wiring`
        is what `opened` gave, or `None` for the framework alone."""
        ...


@dataclass
class Toolbox:
    """Tools that note their calls. Each answer is another one, so that none can be mistaken."""

    calls: list[str] = field(default_factory=list[str])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def _note(self, name: str) -> int:
        with self._lock:
            self.calls.append(name)
            return len(self.calls)

    @property
    def weather(self) -> Callable[[str], str]:
        def weather(city: str) -> str:
            """Tell the weather in a city.

            Args:
                city: The name of the city.
            """
            return f"{city}: {20 + self._note('weather')} degrees"

        return weather

    @property
    def broken(self) -> Callable[[str], str]:
        def broken(city: str) -> str:
            """Fail to tell the weather in a city.

            Args:
                city: The name of the city.
            """
            raise ValueError(f"no station in {city} ({self._note('broken')})")

        return broken

    def remember(self, look_up: Callable[[str], str]) -> Callable[[str], str]:
        """A tool that keeps what `look_up` says."""

        def remember(city: str) -> str:
            """Remember a city.

            Args:
                city: The name of the city.
            """
            self.calls.append(f"remember {look_up(city)}")
            return f"remembered {city}"

        return remember
