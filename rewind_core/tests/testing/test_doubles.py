"""The in-process doubles."""

from __future__ import annotations

import pytest

import rewind


def test_a_script_returns_values_calls_callables_and_raises_errors() -> None:
    model = rewind.ScriptedLLM(["one", lambda **request: request["prompt"].upper(), KeyError("k")])
    assert model.remaining == 3
    assert model(prompt="a") == "one"
    assert model(prompt="b") == "B"
    with pytest.raises(KeyError):
        model(prompt="c")
    assert model.calls == [{"prompt": "a"}, {"prompt": "b"}, {"prompt": "c"}]
    assert model.remaining == 0


def test_a_script_that_ended_says_so() -> None:
    model = rewind.ScriptedLLM([])
    with pytest.raises(rewind.ScriptExhausted, match=r"call 1 .* 0 items"):
        model("a question")
    assert model.calls == [{"args": ("a question",)}]


def test_never_called_names_what_was_called() -> None:
    with pytest.raises(rewind.LiveCallDuringReplay, match="the weather service"):
        rewind.NeverCalled("the weather service")(city="Oslo")
