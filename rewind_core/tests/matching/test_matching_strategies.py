"""What each strategy serves, what it refuses, and what it says."""

from __future__ import annotations

import asyncio
import random
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import rewind
from rewind.matching.similarity import slow_ratio


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return tmp_path / "run.rewind"


@pytest.fixture(autouse=True)
def lexical() -> Iterator[None]:
    yield
    rewind.set_similarity(rewind.lexical_similarity)


count = 0


def _answer(**request: Any) -> str:
    global count
    count += 1
    return f"{count}: {sorted(request.items())}"


ask = rewind.llm(_answer)
look = rewind.tool(_answer)
pay = rewind.tool(name="pay")(_answer)


def recorded(path: Path, *calls: tuple[Any, dict[str, Any]]) -> list[str]:
    with rewind.record(path):
        return [function(**request) for function, request in calls]


LONG = "You are a careful assistant of a travel agency. Answer in one sentence. " * 4


class TestStrict:
    def test_identical_calls_by_the_hundred_are_answered_in_their_order(self, trace: Path) -> None:
        answers = recorded(trace, *[(look, {"q": "poll"})] * 200)
        with rewind.replay(trace):
            assert [look(q="poll") for _ in range(200)] == answers


class TestOrdered:
    def test_a_drifted_request_is_served_with_a_warning_that_says_what_drifted(
        self, trace: Path
    ) -> None:
        answers = recorded(trace, (ask, {"q": "one"}), (look, {"q": 2}), (ask, {"q": "three"}))
        with (
            rewind.replay(trace, match="ordered"),
            pytest.warns(rewind.ReplayDriftWarning, match=r'step 0 .* q: recorded "one", now "1"'),
        ):
            assert [ask(q="1"), look(q=2), ask(q="three")] == answers

    def test_equal_requests_are_served_without_a_word(self, trace: Path) -> None:
        answers = recorded(trace, (ask, {"q": "one"}), (look, {"q": 2}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with rewind.replay(trace, match=rewind.OrderedMatcher()):
                assert [ask(q="one"), look(q=2)] == answers

    def test_another_kind_or_name_at_this_position_is_a_miss(self, trace: Path) -> None:
        recorded(trace, (ask, {"q": "one"}), (look, {"q": 2}))
        for call in (look, pay):
            with (
                rewind.replay(trace, match="ordered") as session,
                pytest.raises(rewind.DivergenceError),
            ):
                call(q="other")
            assert session.cursor == 0

    def test_a_run_that_is_longer_than_the_recording_is_a_miss(self, trace: Path) -> None:
        recorded(trace, (ask, {"q": "one"}))
        with rewind.replay(trace, match="ordered"):
            ask(q="one")
            with pytest.raises(rewind.DivergenceError, match="no further call"):
                ask(q="two")

    def test_tasks_keep_their_places(self, trace: Path) -> None:
        @rewind.tool
        async def work(task: int, stamp: float) -> int:
            await asyncio.sleep(random.random() / 200)
            return task

        async def run() -> list[int]:
            return await asyncio.gather(*(work(task, random.random()) for task in range(12)))

        with rewind.record(trace):
            asyncio.run(run())
        with rewind.replay(trace, match="ordered"), pytest.warns(rewind.ReplayDriftWarning):
            assert asyncio.run(run()) == list(range(12))


class TestParallel:
    def test_order_does_not_matter_and_duplicates_are_first_in_first_out(self, trace: Path) -> None:
        a1, b, a2 = recorded(trace, (look, {"q": "a"}), (look, {"q": "b"}), (look, {"q": "a"}))
        with rewind.replay(trace, match="parallel", require_full_consumption=True):
            assert [look(q="b"), look(q="a"), look(q="a")] == [b, a1, a2]

    def test_it_is_exact(self, trace: Path) -> None:
        recorded(trace, (look, {"q": "a"}))
        with rewind.replay(trace, match="parallel"):
            with pytest.raises(rewind.DivergenceError, match="differs"):
                look(q="c")
            look(q="a")
            with pytest.raises(rewind.DivergenceError, match="already served"):
                look(q="a")

    def test_a_fork_serves_by_identity_and_goes_live_with_the_rest(self, trace: Path) -> None:
        a, b, _ = recorded(trace, (look, {"q": "a"}), (look, {"q": "b"}), (look, {"q": "c"}))
        with rewind.fork(trace, at=2, match=rewind.ParallelMatcher()) as session:
            assert [look(q="b"), look(q="a")] == [b, a]
            look(q="d")
        assert [event.request["q"] for event in session.new_events] == ["d"]


class TestFuzzy:
    def test_an_exact_match_is_silent(self, trace: Path) -> None:
        answers = recorded(trace, (ask, {"q": "one"}), (look, {"q": 2}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with rewind.replay(trace, match="fuzzy"):
                assert [ask(q="one"), look(q=2)] == answers

    def test_a_similar_prompt_is_served_with_a_warning_that_says_what_differs(
        self, trace: Path
    ) -> None:
        (answer,) = recorded(trace, (ask, {"system": LONG, "q": "what is the weather"}))
        with (
            rewind.replay(trace, match="fuzzy"),
            pytest.warns(rewind.FuzzyMatchWarning, match=r"step 0 .*similar.* system: recorded"),
        ):
            assert ask(system=LONG + " Be brief.", q="what is the weather") == answer

    @pytest.mark.parametrize("kind", [ask, look], ids=["llm", "tool"])
    def test_money_never_goes_to_somebody_else(self, trace: Path, kind: Any) -> None:
        recorded(trace, (kind, {"q": "transfer 10 to Alice"}))
        with (
            rewind.replay(trace, match=rewind.FuzzyMatcher(threshold=0)),
            pytest.raises(rewind.DivergenceError, match="never served approximately"),
        ):
            kind(q="transfer 999 to Mallory")

    @pytest.mark.parametrize(
        ("before", "now"),
        [
            ({"amount": 10}, {"amount": 11}),
            ({"amount": 10}, {"amount": 10.5}),
            ({"dry": True}, {"dry": False}),
            ({"dry": True}, {}),
            ({}, {"force": True}),
            ({"to": None}, {"to": "x"}),
            ({"to": "acct_1f"}, {"to": "acct_2f"}),
            ({"to": "Alice"}, {"to": "Mallory"}),
            ({"tags": ["a", "b"]}, {"tags": ["a", "c"]}),
            ({"tags": ["a"]}, {"tags": ["a", "b"]}),
            ({"note": "pay the rent of this month, 900 in all"},
             {"note": "pay the rent of this month, 901 in all"}),
            ({"note": "please send the flowers to Alice with love"},
             {"note": "please send the flowers to Mallory with love"}),
        ],
    )  # fmt: skip
    def test_a_precise_argument_of_a_tool_has_to_be_equal(
        self, trace: Path, before: dict[str, Any], now: dict[str, Any]
    ) -> None:
        recorded(trace, (pay, {"text": LONG, "inner": before}))
        with (
            rewind.replay(trace, match=rewind.FuzzyMatcher(threshold=0)),
            pytest.raises(rewind.DivergenceError, match=r"similar \(0\.\d+\) but inner"),
        ):
            pay(text=LONG, inner=now)

    def test_prose_of_a_tool_may_be_put_differently(self, trace: Path) -> None:
        (answer,) = recorded(trace, (pay, {"note": "please send flowers to my old friend"}))
        with rewind.replay(trace, match="fuzzy"), pytest.warns(rewind.FuzzyMatchWarning):
            assert pay(note="please do send flowers to my old friend") == answer

    def test_it_never_crosses_kind_or_name(self, trace: Path) -> None:
        recorded(trace, (look, {"q": LONG}))
        for other in (pay, ask):
            with (
                rewind.replay(trace, match=rewind.FuzzyMatcher(threshold=0)),
                pytest.raises(rewind.DivergenceError),
            ):
                other(q=LONG)

    def test_it_never_goes_back(self, trace: Path) -> None:
        recorded(trace, (ask, {"q": LONG + "a"}), (ask, {"q": "z"}))
        with rewind.replay(trace, match=rewind.FuzzyMatcher(threshold=0.9)):
            with pytest.warns(rewind.FuzzyMatchWarning, match="step 0 before it was not asked for"):
                ask(q="z")
            with pytest.raises(rewind.DivergenceError):
                ask(q=LONG + "b")

    def test_a_fork_goes_live_with_what_nothing_is_similar_to(self, trace: Path) -> None:
        (answer, _) = recorded(trace, (ask, {"q": LONG}), (ask, {"q": "last"}))
        with rewind.fork(trace, at=1, match="fuzzy") as session:
            with pytest.warns(rewind.FuzzyMatchWarning):
                assert ask(q=LONG + " Be brief.") == answer
            ask(q="of no likeness to anything")
        assert len(session.new_events) == 1

    def test_the_window_is_kept(self, trace: Path) -> None:
        steps = [(ask, {"q": LONG + letter}) for letter in "abcd"]
        answers = recorded(trace, *steps, (ask, {"q": "something else entirely, of no likeness"}))
        asked = "something else entirely, of no likeness at all"
        with (
            rewind.replay(trace, match=rewind.FuzzyMatcher(threshold=0.8, window=4)),
            pytest.raises(rewind.DivergenceError),
        ):
            ask(q=asked)
        with (
            rewind.replay(trace, match=rewind.FuzzyMatcher(threshold=0.8, window=5)),
            pytest.warns(rewind.FuzzyMatchWarning),
        ):
            assert ask(q=asked) == answers[4]

    @pytest.mark.parametrize("wrong", [{"threshold": 2}, {"threshold": "x"}, {"window": 0}])
    def test_settings_that_cannot_be_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(rewind.RewindError, match=next(iter(wrong))):
            rewind.FuzzyMatcher(**wrong)


class TestSimilarity:
    def test_lexical_similarity_is_1_for_equal_and_less_for_others(self) -> None:
        assert rewind.lexical_similarity("a b", "a b") == 1
        assert rewind.lexical_similarity("", "") == 1
        assert rewind.lexical_similarity("a", "b") == 0
        near = rewind.lexical_similarity("the weather in Oslo", "the weather in Rome")
        far = rewind.lexical_similarity("the weather in Oslo", "pay the rent")
        assert 0 < far < near < 1
        assert slow_ratio("the weather", "the whether") == pytest.approx(20 / 22)

    def test_a_backend_decides(self, trace: Path) -> None:
        answers = recorded(trace, (ask, {"q": "one"}), (ask, {"q": "two"}))
        rewind.set_similarity(lambda a, _: float("two" in a))
        with rewind.replay(trace, match="fuzzy"), pytest.warns(rewind.FuzzyMatchWarning):
            assert ask(q="zwei") == answers[1]

    @pytest.mark.parametrize("value", [1.5, -1, float("nan"), "0.5", None])
    def test_a_backend_that_gives_no_likeness_is_named(self, trace: Path, value: object) -> None:
        recorded(trace, (ask, {"q": "one"}))
        rewind.set_similarity(lambda _a, _b: value)  # type: ignore[arg-type,return-value]
        with (
            rewind.replay(trace, match="fuzzy"),
            pytest.raises(rewind.RewindError, match="between 0 and 1"),
        ):
            ask(q="eins")


class ByName:
    """The next unserved event of the call's name."""

    positional = False

    def __init__(self) -> None:
        self.used: set[int] = set()

    def match(
        self, cursor: int, kind: str, name: str, fp: str, request: Mapping[str, Any],
        trace: rewind.Trace,
    ) -> rewind.Event | None:  # fmt: skip
        return self.serve_prefix(cursor, kind, name, fp, request, trace, len(trace))

    def serve_prefix(
        self, cursor: int, kind: str, name: str, fp: str, request: Mapping[str, Any],
        trace: rewind.Trace, limit: int,
    ) -> rewind.Event | None:  # fmt: skip
        for event in trace.events[:limit]:
            if event.name == name and event.seq not in self.used:
                self.used.add(event.seq)
                return event
        return None


class ByCursor:
    positional = True

    def match(
        self, cursor: int, kind: str, name: str, fp: str, request: Mapping[str, Any],
        trace: rewind.Trace,
    ) -> rewind.Event | None:  # fmt: skip
        return trace[cursor]


class TestOwnMatchers:
    def test_one_that_is_not_positional(self, trace: Path) -> None:
        answers = recorded(trace, (look, {"q": 1}), (pay, {"q": 2}), (look, {"q": 3}))
        with rewind.replay(trace, match=ByName()):
            assert [pay(q="x"), look(q="y"), look(q="z")] == [answers[1], answers[0], answers[2]]
            with pytest.raises(rewind.DivergenceError):
                look(q="w")
        with rewind.fork(trace, at=2, match=ByName()) as session:
            assert [pay(q="x"), look(q="y")] == [answers[1], answers[0]]
            look(q="z")
        assert [event.request["q"] for event in session.new_events] == ["z"]

    def test_one_that_is_positional(self, trace: Path) -> None:
        answers = recorded(trace, (look, {"q": 1}), (look, {"q": 2}))
        with rewind.replay(trace, match=ByCursor()):
            assert [look(q=7), look(q=8)] == answers
        with rewind.fork(trace, at=1, match=ByCursor()) as session:
            assert look(q=7) == answers[0]
            look(q=8)
        assert [event.request["q"] for event in session.new_events] == [8]

    def test_one_that_gives_a_foreign_event_is_named(self, trace: Path, tmp_path: Path) -> None:
        other = tmp_path / "other.rewind"
        recorded(trace, (look, {"q": 1}))
        recorded(other, (look, {"q": 1}))
        event = rewind.Trace.open(other)[0]

        class Foreign(ByCursor):
            def match(self, *_: Any, **__: Any) -> rewind.Event | None:
                return event

        with (
            rewind.replay(trace, match=Foreign()),
            pytest.raises(rewind.RewindError, match="no event of the trace"),
        ):
            look(q=1)

    @pytest.mark.parametrize(
        ("match", "why"),
        [("exact", "'strict', 'ordered', 'fuzzy', 'parallel'"), (3, "'positional'"),
         (ByCursor, "instance"), (None, "'positional'")],
    )  # fmt: skip
    def test_what_is_no_matcher_is_refused(self, trace: Path, match: Any, why: str) -> None:
        recorded(trace, (look, {"q": 1}))
        with pytest.raises(rewind.SessionError, match=why):
            rewind.replay(trace, match=match)

    def test_a_fork_needs_a_prefix_from_one_that_is_not_positional(self, trace: Path) -> None:
        class Half(ByCursor):
            positional = False

        recorded(trace, (look, {"q": 1}))
        with pytest.raises(rewind.SessionError, match="serve_prefix"):
            rewind.fork(trace, at=1, match=Half())
