"""The contract of an adapter, as tests: what the program sees bare, it sees recorded and replayed.

An adapter's test file subclasses `AdapterConformance`, gives its port and declares what the
framework is capable of.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from pydantic import BaseModel

import rewind

from ..chat import Turn
from ..doubles import NeverCalled
from ..standin import StandIn
from .rules import check_overrides, needs
from .tasks import Capability, Outcome, Port, Task, Toolbox, Way

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["AdapterConformance", "Report"]

_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c6360606000000004000127340a0a0000000049454e44ae426082"
)
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GROQ_API_KEY")


class Report(BaseModel):
    """The structured answer that the suite asks for."""

    city: str
    degrees: int


def _call(name: str, *cities: str) -> Turn:
    return Turn(calls=tuple((name, {"city": city}) for city in cities))


class AdapterConformance:
    """Subclass it as `TestConformance`, with `port` and `capabilities`."""

    port: ClassVar[Port]
    capabilities: ClassVar[frozenset[Capability]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_overrides(AdapterConformance, cls)

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = tmp_path
        self.path = tmp_path / "run.rewind"
        for name in _KEYS:
            monkeypatch.delenv(name, raising=False)

    # -- how a task is driven ----------------------------------------------------------------

    def _live(self, task: Task, turns: Sequence[Turn], wiring: Any) -> tuple[Outcome, str]:
        interactions = [turn.answer(stream=task.way.streams) for turn in turns]
        with StandIn(interactions) as provider:
            outcome = self.port.run(task, provider.url, wiring)
            assert not provider.unmatched, [one.path for one in provider.unmatched]
            return outcome, provider.url

    def record(self, task: Task, *turns: Turn) -> tuple[Outcome, str]:
        """Run the task live and record it; what came out, and the URL of the provider, now gone."""
        with self.port.opened("record", self.path, run_tools=task.run_tools) as wiring:
            return self._live(task, turns, wiring)

    def replay(self, task: Task, url: str, **options: Any) -> Outcome:
        """Run the task again from the trace."""
        options = {"require_full_consumption": True, "run_tools": task.run_tools, **options}
        with self.port.opened("replay", self.path, **options) as wiring:
            return self.port.run(task, url, wiring)

    def faithful(self, task: Task, *turns: Turn) -> rewind.Trace:
        """Bare, recorded and replayed, the program sees the same."""
        bare, _ = self._live(task, turns, None)
        recorded, url = self.record(task, *turns)
        assert _shape(recorded) == _shape(bare)
        assert self.replay(task, url) == recorded
        return rewind.Trace.open(self.path)

    # -- the contract ------------------------------------------------------------------------

    @needs(Capability.PLAIN)
    def test_a_plain_answer(self) -> None:
        """One model call is one event, however many layers saw it."""
        trace = self.faithful(Task(), Turn(text="Sunny."))
        assert [event.kind for event in trace] == ["llm"]

    @needs(Capability.TOOL)
    def test_a_tool_is_served(self) -> None:
        """A recorded tool is not run again."""
        box = Toolbox()
        task = Task(tools=(box.weather,))
        turns = (_call("weather", "Paris"), Turn(text="It is warm."))
        recorded, url = self.record(task, *turns)
        assert box.calls == ["weather"]
        assert self.replay(task, url) == recorded
        assert box.calls == ["weather"]
        kinds = [(event.kind, event.name) for event in rewind.Trace.open(self.path)]
        assert [kind for kind, _ in kinds] == ["llm", "tool", "llm"]
        assert kinds[1][1] == "weather"

    @needs(Capability.TOOL)
    def test_events_name_their_agent(self) -> None:
        """A trace says in which agent a call was made."""
        box = Toolbox()
        turns = (_call("weather", "Paris"), Turn(text="It is warm."))
        self.record(Task(tools=(box.weather,)), *turns)
        for event in rewind.Trace.open(self.path):
            assert "assistant" in event.meta["within"], event.name

    @needs(Capability.PARALLEL_TOOLS)
    @pytest.mark.parametrize("way", [Way.SYNC, Way.ASYNC], ids=lambda way: way.value)
    @pytest.mark.parametrize("cities", [("Paris", "Rome", "Oslo"), ("Paris", "Paris", "Paris")])
    def test_parallel_tools_keep_their_results(self, cities: tuple[str, ...], way: Way) -> None:
        """Each call gets its own result back, also where all calls are alike."""
        box = Toolbox()
        task = Task(tools=(box.weather,), way=way)
        recorded, url = self.record(task, _call("weather", *cities), Turn(text="Warm."))
        assert len(set(recorded.tool_results)) == len(cities)
        for _ in range(5):
            assert self.replay(task, url) == recorded

    @needs(Capability.SUB_AGENT)
    def test_a_sub_agent(self) -> None:
        """What another agent does is recorded with the names of both."""
        box = Toolbox()
        task = Task(sub_agent=Task(tools=(box.weather,)))
        turns = (
            Turn(calls=(("expert", {"task": "Paris?"}),)),
            _call("weather", "Paris"),
            Turn(text="21 degrees."),
            Turn(text="It is warm."),
        )
        recorded, url = self.record(task, *turns)
        assert self.replay(task, url) == recorded
        assert box.calls == ["weather"]
        tool = next(e for e in rewind.Trace.open(self.path) if e.name == "weather")
        assert "expert" in tool.meta["within"]

    @needs(Capability.STATEFUL_TOOL)
    def test_a_tool_with_state_runs_and_what_it_asks_is_served(self) -> None:
        box = Toolbox()
        backend: list[Callable[[str], str]] = ["{} is big".format]

        @rewind.memory(name="atlas")
        def look_up(city: str) -> str:
            return backend[0](city)

        task = Task(tools=(box.remember(look_up),), run_tools=("remember",))
        turns = (_call("remember", "Paris"), Turn(text="Done."))
        recorded, url = self.record(task, *turns)
        backend[0] = NeverCalled()
        assert self.replay(task, url) == recorded
        assert box.calls == ["remember Paris is big"] * 2

    @needs(Capability.TOOL_ERROR)
    def test_an_error_in_a_tool(self) -> None:
        """The framework meets the same error again, whatever it makes of it."""
        box = Toolbox()
        task = Task(tools=(box.broken,))
        turns = (_call("broken", "Paris"), Turn(text="Sorry."))
        with StandIn([turn.answer() for turn in turns]) as provider:
            with self.port.opened("record", self.path) as wiring:
                recorded = self.port.run(task, provider.url, wiring)
        assert self.replay(task, provider.url) == recorded
        assert box.calls == ["broken"]

    @needs(Capability.MODEL_ERROR)
    def test_an_error_from_the_model(self) -> None:
        recorded, url = self.record(Task(), Turn(text="no credit", status=402))
        assert recorded.error is not None
        assert self.replay(Task(), url) == recorded

    @needs(Capability.MODEL_ERROR)
    def test_a_retry_after_an_error(self) -> None:
        task = Task(max_retries=1)
        retry = {"headers": (("content-type", "application/json"), ("retry-after-ms", "1"))}
        turns = (Turn(text="busy", status=503, more=retry), Turn(text="Sunny."))
        recorded, url = self.record(task, *turns)
        assert recorded.text == "Sunny."
        assert self.replay(task, url) == recorded

    @needs(Capability.FALLBACK)
    def test_the_fallback_answers_and_only_after_the_error(self) -> None:
        task = Task(fallback="gpt-4o")
        recorded, url = self.record(task, Turn(text="no", status=400), Turn(text="Sunny."))
        assert recorded.text == "Sunny."
        assert self.replay(task, url) == recorded

    @needs(Capability.FALLBACK)
    def test_a_fallback_never_hides_a_miss(self) -> None:
        task = Task(fallback="gpt-4o")
        _, url = self.record(task, Turn(text="no", status=400), Turn(text="Sunny."))
        with pytest.raises(rewind.DivergenceError):
            self.replay(Task(fallback="gpt-4o", prompt="Another question?"), url)

    @needs(Capability.STREAM)
    def test_a_stream(self) -> None:
        """The same chunks in the same order."""
        box = Toolbox()
        task = Task(way=Way.STREAM, tools=(box.weather,))
        recorded, url = self.record(task, _call("weather", "Paris"), Turn(text="It is a warm day."))
        assert len(recorded.chunks) > 2
        assert self.replay(task, url) == recorded

    @needs(Capability.STREAM_LEFT_EARLY)
    @pytest.mark.parametrize("way", [Way.STREAM, Way.ASYNC_STREAM], ids=lambda way: way.value)
    def test_a_stream_left_early(self, way: Way) -> None:
        """What was seen is what is recorded."""
        task = Task(way=way, leave_after=2)
        recorded, url = self.record(task, Turn(text="one two three four five six"))
        assert len(recorded.chunks) == 2
        assert self.replay(task, url) == recorded
        assert rewind.Trace.open(self.path).events[0].truncated

    @needs(Capability.ASYNC)
    def test_async(self) -> None:
        box = Toolbox()
        task = Task(way=Way.ASYNC, tools=(box.weather,))
        recorded, url = self.record(task, _call("weather", "Paris"), Turn(text="It is warm."))
        assert self.replay(task, url) == recorded
        assert box.calls == ["weather"]

    @needs(Capability.ASYNC_STREAM)
    def test_an_async_stream(self) -> None:
        box = Toolbox()
        task = Task(way=Way.ASYNC_STREAM, tools=(box.weather,))
        recorded, url = self.record(task, _call("weather", "Paris"), Turn(text="It is a warm day."))
        assert len(recorded.chunks) > 2
        assert self.replay(task, url) == recorded

    @needs(Capability.STRUCTURED)
    def test_structured_output(self) -> None:
        """The answer is an object of the class that was asked for."""
        task = Task(output=Report)
        recorded, url = self.record(task, *self.structured_turns())
        assert recorded.text == Report(city="Paris", degrees=21)
        assert self.replay(task, url) == recorded

    def structured_turns(self) -> tuple[Turn, ...]:
        """What the model says where a `Report` is asked for; frameworks ask in two ways."""
        return (Turn(text='{"city": "Paris", "degrees": 21}'),)

    @needs(Capability.MULTIMODAL)
    def test_an_image_in_the_prompt(self) -> None:
        recorded, url = self.record(Task(image=_PNG), Turn(text="A dot."))
        assert self.replay(Task(image=_PNG), url) == recorded
        with pytest.raises(rewind.DivergenceError):
            self.replay(Task(image=_PNG + b"0"), url)

    @needs(Capability.BATCH)
    @pytest.mark.parametrize("way", [Way.SYNC, Way.ASYNC], ids=lambda way: way.value)
    def test_prompts_at_the_same_time_keep_their_answers(self, way: Way) -> None:
        task = Task(way=way, batch=("same",) * 6 + ("other",))
        recorded, url = self.record(task, *(Turn(text=f"answer {n}") for n in range(7)))
        for _ in range(5):
            assert self.replay(task, url) == recorded

    @needs(Capability.NO_HTTP)
    def test_a_model_that_makes_no_http_call(self) -> None:
        recorded, url = self.record(Task(http=False))
        assert recorded.text == "Hello there."
        assert self.replay(Task(http=False), url) == recorded
        assert [event.kind for event in rewind.Trace.open(self.path)] == ["llm"]

    @needs(Capability.FORK)
    def test_a_fork_at_each_step(self) -> None:
        """History up to the step, live after it; and the forked trace replays."""
        box = Toolbox()
        task = Task(tools=(box.weather,))
        turns = (_call("weather", "Paris"), Turn(text="It is warm."))
        recorded, url = self.record(task, *turns)
        kinds = [event.kind for event in rewind.Trace.open(self.path)]
        for at in range(len(kinds) + 1):
            saved = self.folder / f"fork-{at}.rewind"
            served = kinds[:at].count("llm")
            live = [*turns[served:-1], Turn(text="Forked.")] if at < len(kinds) else []
            with self.port.opened("fork", self.path, at=at, save_as=saved) as wiring:
                forked, _ = self._live(task, live, wiring)
            assert forked.text == ("Forked." if live else recorded.text)
            with self.port.opened("replay", saved, require_full_consumption=True) as wiring:
                assert self.port.run(task, url, wiring) == forked

    def test_a_miss_fails_the_run(self) -> None:
        """Whatever the framework does with exceptions, the session raises the original report."""
        box = Toolbox()
        task = Task(tools=(box.weather,))
        _, url = self.record(task, _call("weather", "Paris"), Turn(text="It is warm."))
        other = Task(tools=(box.weather,), prompt="Another question?")
        with pytest.raises(rewind.DivergenceError, match="Another question"):
            self.replay(other, url)

    def test_removal_leaves_the_framework_as_it_was(self) -> None:
        before = {kind: dict(vars(kind)) for kind in self.port.classes}
        self.faithful(Task(), Turn(text="Sunny."))
        after = {kind: dict(vars(kind)) for kind in self.port.classes}
        for kind in self.port.classes:
            changed = [k for k in before[kind] if before[kind][k] is not after[kind].get(k)]
            assert not [name for name in changed if name not in _OWN_BUSINESS], kind
            assert set(after[kind]) - set(before[kind]) <= set(_OWN_BUSINESS)

    def test_two_runs_at_once_do_not_mix(self) -> None:
        paths = [self.folder / f"{name}.rewind" for name in "ab"]
        ready = threading.Barrier(2)
        seen: dict[int, Outcome] = {}

        def one(number: int) -> None:
            with self.port.opened("record", paths[number]) as wiring:
                ready.wait(30)
                task = Task(prompt=f"Question {number}?")
                seen[number], _ = self._live(task, [Turn(text=f"Answer {number}.")], wiring)

        threads = [threading.Thread(target=one, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number, path in enumerate(paths):
            assert seen[number].text == f"Answer {number}."
            events = rewind.Trace.open(path).events
            assert len(events) == 1
            assert f"Question {number}?" in str(events[0].request)


_OWN_BUSINESS = ("__abstractmethods__", "_abc_impl", "__pydantic_complete__", "__doc__")
"""What classes change about themselves as they are used."""


def _shape(outcome: Outcome) -> tuple[object, ...]:
    """What must be the same in two live runs too; ids that a framework makes up are not."""
    return (outcome.text, outcome.chunks, outcome.error)
