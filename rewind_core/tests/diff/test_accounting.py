"""Tokens are exact, cost is an estimate, and what is unknown is never zero."""

from __future__ import annotations

from pathlib import Path

import pytest

import rewind
from rewind.accounting import ModelPrice, account


def answer(model: str, sent: int | None, made: int | None) -> dict[str, object]:
    usage = {} if sent is None else {"usage": {"prompt_tokens": sent, "completion_tokens": made}}
    return {"model": model, "choices": [{"message": {"content": "x"}}], **usage}


@pytest.fixture
def trace(tmp_path: Path):
    def make(*answers: dict[str, object]) -> rewind.Trace:
        left = list(answers)

        @rewind.llm
        def ask(number: int) -> object:
            return left.pop(0)

        with rewind.record(tmp_path / "t.rewind"):
            for number in range(len(answers)):
                ask(number)
        return rewind.Trace.open(tmp_path / "t.rewind")

    return make


def test_tokens_are_summed_per_model(trace):
    sums = account(trace(answer("m", 10, 1), answer("m", 20, 2), answer("n", 5, 5)))
    assert [(u.model, u.calls, u.input_tokens, u.output_tokens) for u in sums.per_model] == [
        ("m", 2, 30, 3),
        ("n", 1, 5, 5),
    ]
    assert (sums.total_input_tokens, sums.total_output_tokens, sums.total_tokens) == (35, 8, 43)


def test_a_call_without_usage_is_unknown(trace):
    sums = account(trace(answer("m", None, None), answer("m", 1, 1)))
    assert (sums.calls_without_usage, sums.per_model[0].calls_with_usage) == (1, 1)


def test_a_model_without_price_has_no_cost(trace):
    sums = account(trace(answer("no-such-model-at-all", 1, 1)))
    assert sums.total_cost is None
    assert sums.unpriced_models == ["no-such-model-at-all"]


def test_given_prices_come_first(trace):
    prices = {"gpt-4o": ModelPrice(input=1.0, output=10.0)}
    sums = account(trace(answer("gpt-4o", 1_000_000, 100_000)), prices=prices)
    assert sums.total_cost == pytest.approx(2.0)


def test_the_installed_price_list_is_used(trace):
    pytest.importorskip("genai_prices")
    cost = account(trace(answer("gpt-4o", 1_000_000, 1_000_000))).total_cost
    assert cost is not None
    assert cost > 0


def test_tokens_of_a_wrapper_and_the_call_inside_it_count_once(tmp_path):
    @rewind.tool
    def outer() -> object:
        return inner(1)

    @rewind.llm
    def inner(number: int) -> object:
        return answer("m", 3, 4)

    with rewind.record(tmp_path / "t.rewind"):
        outer()
    assert account(rewind.Trace.open(tmp_path / "t.rewind")).total_tokens == 7


def test_the_price_list_is_a_mapping_and_what_it_says_is_charged(trace):
    price = rewind.DEFAULT_PRICES["gpt-4o"]
    assert len(rewind.DEFAULT_PRICES) > 500
    assert 0 < price.input < price.output
    sums = account(trace(answer("gpt-4o", 1_000_000, 1_000_000)))
    assert sums.total_cost == pytest.approx(price.input + price.output)
