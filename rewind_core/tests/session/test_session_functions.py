"""Decorated functions through a session: record, replay, fork, and what goes wrong."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import rewind


class Provider:
    """A model that counts its calls and never answers twice alike."""

    def __init__(self) -> None:
        self.calls = 0

    def ask(self, **request: Any) -> dict[str, Any]:
        self.calls += 1
        return {"text": f"answer {self.calls} to {request['q']}"}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "run.rewind"


def test_replay_gives_the_recorded_answers_without_calling(trace: Path) -> None:
    provider = Provider()
    ask = rewind.llm(provider.ask)
    with rewind.record(trace):
        first = [ask(q="a"), ask(q="b"), ask(q="a")]
    with rewind.replay(trace) as session:
        again = [ask(q="a"), ask(q="b"), ask(q="a")]
    assert again == first
    assert provider.calls == 3
    assert session.cursor == 3


def test_a_positional_argument_equals_its_keyword_and_its_default(trace: Path) -> None:
    @rewind.tool
    def weather(city: str, unit: str = "C") -> str:
        return f"{city} 20{unit}"

    with rewind.record(trace):
        assert weather("Rome") == "Rome 20C"
        weather("Oslo")
    with rewind.replay(trace):
        assert weather(city="Rome", unit="C") == "Rome 20C"
        assert weather("Oslo") == "Oslo 20C"


def test_a_changed_request_raises_at_the_call_with_a_short_report(trace: Path) -> None:
    ask = rewind.llm(Provider().ask)
    with rewind.record(trace):
        ask(q="x" * 50_000)
    with rewind.replay(trace), pytest.raises(rewind.DivergenceError) as caught:
        ask(q="y" * 50_000)
    text = str(caught.value)
    assert len(text.encode()) <= 4096
    assert caught.value.step == 0
    assert "first difference: q" in text
    assert "nearest recorded call: step 0" in text
    assert "rewind cat" in text


def test_two_sequential_calls_swapped_by_a_code_change_raise(trace: Path) -> None:
    ask = rewind.llm(Provider().ask)
    with rewind.record(trace):
        ask(q="a")
        ask(q="b")
    with pytest.raises(rewind.DivergenceError, match="out of order"), rewind.replay(trace):
        ask(q="b")
        ask(q="a")


def test_a_skipped_call_raises_at_exit_and_a_tail_only_warns(trace: Path) -> None:
    ask = rewind.llm(Provider().ask)
    with rewind.record(trace):
        ask(q="a")
        ask(q="b")
        ask(q="c")
    with pytest.raises(rewind.DivergenceError, match="step 1 was skipped"), rewind.replay(trace):
        ask(q="a")
        ask(q="c")
    with pytest.warns(rewind.UnconsumedEventsWarning, match="1 of 3"), rewind.replay(trace):
        ask(q="a")
        ask(q="b")
    with (
        pytest.raises(rewind.DivergenceError, match="never asked for"),
        rewind.replay(trace, require_full_consumption=True),
    ):
        ask(q="a")


def test_a_miss_that_something_swallowed_is_raised_at_exit(trace: Path) -> None:
    ask = rewind.llm(Provider().ask)
    with rewind.record(trace):
        ask(q="a")

    def swallow(value: Any) -> Any:
        import contextlib

        with contextlib.ExitStack() as stack:
            stack.push(lambda *exc: True)
            return ask(q=value)

    with pytest.raises(ValueError, match="mine"), rewind.replay(trace):
        ask(q="a")
        raise ValueError("mine")
    with rewind.replay(trace) as session:
        ask(q="a")
        swallow("other")
        session.acknowledge()


def test_recorded_errors_are_raised_as_their_class(trace: Path) -> None:
    @rewind.tool
    def fails(code: int) -> None:
        raise FileNotFoundError(code, "no such thing")

    with rewind.record(trace), pytest.raises(FileNotFoundError):
        fails(2)
    with rewind.replay(trace), pytest.raises(FileNotFoundError) as caught:
        fails(2)
    assert isinstance(caught.value, rewind.ReplayedError)
    assert caught.value.errno == 2
    assert caught.value.original_type == "builtins.FileNotFoundError"


def test_fork_serves_the_prefix_then_goes_live_and_its_trace_replays(
    trace: Path, tmp_path: Path
) -> None:
    provider = Provider()
    ask = rewind.llm(provider.ask)

    def agent(last: str) -> list[Any]:
        return [ask(q="a"), ask(q="b"), ask(q=last)]

    with rewind.record(trace):
        old = agent("c")
    fixed = tmp_path / "fixed.rewind"
    with rewind.fork(trace, at=2, save_as=fixed) as session:
        new = agent("changed")
    assert new[:2] == old[:2]
    assert new[2] != old[2]
    assert provider.calls == 4
    assert [e.request["q"] for e in session.new_events] == ["changed"]
    forked = rewind.Trace.open(fixed)
    assert forked.header.forked_from["at"] == 2
    with rewind.replay(fixed):
        assert agent("changed") == new
    assert provider.calls == 4
    with rewind.fork(trace, at=3):
        assert [*agent("c"), ask(q="more")][:3] == old


def test_a_call_inside_a_tool_is_its_child_and_is_served_with_it(trace: Path) -> None:
    provider = Provider()
    ask = rewind.llm(provider.ask)

    @rewind.tool
    def research(topic: str) -> str:
        return str(ask(q=topic)["text"])

    with rewind.record(trace):
        answer = research("cats")
        ask(q="end")
    events = rewind.Trace.open(trace).events
    assert [(e.name, e.parent) for e in events][:2] == [
        ("test_a_call_inside_a_tool_is_its_child_and_is_served_with_it.research", None)
        if "." in events[0].name
        else ("research", None),
        ("Provider.ask", 0),
    ]
    with rewind.replay(trace):
        assert research("cats") == answer
        ask(q="end")
    assert provider.calls == 2
    with rewind.fork(trace, at=1):
        research("cats")
    assert provider.calls == 3


def test_bad_use_is_a_clear_error(trace: Path, tmp_path: Path) -> None:
    ask = rewind.llm(Provider().ask)
    with rewind.record(trace):
        ask(q="a")
        with pytest.raises(rewind.SessionError, match="do not nest"), rewind.record(trace):
            pass
    with pytest.raises(rewind.SessionError, match="out of range"), rewind.fork(trace, at=2):
        pass
    with pytest.raises(rewind.SessionError, match="is the trace that is forked"):
        with rewind.fork(trace, at=1, save_as=trace):
            pass
    with pytest.raises(rewind.TraceFormatError), rewind.replay(tmp_path / "missing.rewind"):
        pass
    with pytest.raises(rewind.SessionError, match="match="), rewind.replay(trace, match="no"):
        pass


def test_an_agent_that_raises_still_leaves_its_trace(trace: Path) -> None:
    ask = rewind.llm(Provider().ask)
    with pytest.raises(RuntimeError), rewind.record(trace):
        ask(q="a")
        raise RuntimeError
    assert len(rewind.Trace.open(trace)) == 1
    assert not os.path.exists(f"{trace}.partial")


def test_redact_changes_what_is_stored_and_not_what_matches(trace: Path) -> None:
    ask = rewind.llm(Provider().ask)

    def hide(payload: Any) -> Any:
        return (
            {**payload, "q": "hidden"} if isinstance(payload, dict) and "q" in payload else payload
        )

    with rewind.record(trace, redact=hide):
        ask(q="private")
    assert rewind.Trace.open(trace).events[0].request["q"] == "hidden"
    with rewind.replay(trace):
        ask(q="private")


def test_normalize_changes_what_matches_and_not_what_is_stored(trace: Path) -> None:
    ask = rewind.llm(Provider().ask)

    def drop(payload: Any) -> Any:
        return {k: v for k, v in payload.items() if k != "at"}

    with rewind.record(trace, normalize=drop):
        first = ask(q="a", at=1)
    assert rewind.Trace.open(trace).events[0].request["at"] == 1
    with rewind.replay(trace, normalize=drop):
        assert ask(q="a", at=2) == first


def test_importing_rewind_loads_no_sdk_and_no_client() -> None:
    import subprocess
    import sys

    code = (
        "import sys, rewind; heavy = {'httpx', 'httpx2', 'openai', 'msgspec', 'wrapt', 'rich', "
        "'asyncio'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
