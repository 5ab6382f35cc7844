"""Where two runs part."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import rewind
from rewind.diff import _longest_common, diff_traces, render_text


@pytest.fixture
def trace(tmp_path: Path):
    """`trace("a:1", "b:2")`: a recorded run of calls `name:question`, answered by a table."""
    count = 0

    def make(*steps: str, **answers: str) -> rewind.Trace:
        nonlocal count
        count += 1
        path = tmp_path / f"{count}.rewind"

        def ask(question: str) -> str:
            return answers.get(question, f"answer to {question}")

        with rewind.record(path):
            for step in steps:
                name, _, question = step.partition(":")
                rewind.tool(name=name)(ask)(question)
        return rewind.Trace.open(path)

    return make


def ops(found: rewind.TraceDiff) -> str:
    return "".join({"equal": "=", "changed": "~", "deleted": "-", "inserted": "+"}[e.op] for e in found.entries)  # fmt: skip


def test_equal_runs_do_not_diverge(trace):
    found = diff_traces(trace("a:1", "a:2"), trace("a:1", "a:2"))
    assert not found.diverged
    assert found.first_divergence is None
    assert found.summary() == "2 equal"
    assert "the same" in render_text(found)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (["a:1", "a:2", "a:3"], ["a:1", "a:x", "a:3"], "=~="),
        (["a:1", "a:2"], ["a:1", "b:9", "a:2"], "=+="),
        (["a:1", "b:9", "a:2"], ["a:1", "a:2"], "=-="),
        (["a:1", "b:2"], ["a:1", "c:2"], "=-+"),
        (["a:1"], [], "-"),
        ([], ["a:1"], "+"),
        ([], [], ""),
        (["a:1"] * 40, ["a:1"] * 41, "=" * 40 + "+"),
    ],
)
def test_steps_are_aligned(trace, left, right, expected):
    assert ops(diff_traces(trace(*left), trace(*right))) == expected


def test_the_most_alike_step_counts_as_the_changed_one(trace):
    found = diff_traces(trace("a:what is the weather in Rome"), trace("a:xyz", "a:what is the weather in Bern"))  # fmt: skip
    assert ops(found) == "+~"
    assert 0.5 < found.entries[1].similarity < 1


def test_the_same_question_with_another_answer_is_named_as_such(trace):
    found = diff_traces(trace("a:1", "a:2"), trace("a:1", "a:2", **{"2": "else"}))
    first = found.first_divergence
    assert first is not None
    assert (first.op, first.step) == ("changed", 1)
    text = render_text(found)
    assert "asked the same and answered differently" in text
    assert "+ else" in text


def test_another_question_shows_the_first_differing_path(trace):
    text = render_text(diff_traces(trace("a:1"), trace("a:2")))
    assert "question" in text
    assert "asked something else" in text


def test_context_bounds_the_equal_steps_shown(trace):
    a, b = [f"a:{i}" for i in range(20)], [f"a:{i}" for i in range(20)]
    b[10] = "a:new"
    found = diff_traces(trace(*a), trace(*b))
    assert render_text(found, context=0).count("= ") == 0
    assert render_text(found, context=3).count("\n= ") == 6
    assert "… 10 equal steps" in render_text(found, context=0)


def test_paths_are_taken_too(trace):
    a = trace("a:1")
    assert not diff_traces(str(a.path), a.path).diverged
    with pytest.raises(rewind.TraceFormatError):
        diff_traces("nowhere.rewind", a)


def test_alignment_finds_a_longest_common_subsequence():
    def slow(a, b):
        table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])  # fmt: skip
        return table[-1][-1]

    import random

    dice = random.Random(5)
    for _ in range(200):
        a, b = ([dice.randrange(6) for _ in range(dice.randrange(14))] for _ in "ab")
        pairs = _longest_common(a, b)
        assert len(pairs) == slow(a, b)
        assert all(a[i] == b[j] for i, j in pairs)
        assert pairs == sorted(set(pairs))


def test_long_runs_stay_quick():
    a, b = list(range(50_000)), list(range(1, 50_001))
    start = time.perf_counter()
    assert len(_longest_common(a, b)) == 49_999
    assert len(_longest_common([1] * 20_000, [1] * 20_001)) == 20_000
    assert time.perf_counter() - start < 5
