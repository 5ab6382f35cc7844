"""`rewind stats`: counts, time, tokens and an estimate of the cost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from ..accounting import Accounting, ModelPrice, account, prices_known
from .console import Out, clean, one_line
from .failures import Failure
from .show import seconds, when

if TYPE_CHECKING:
    from ..trace import Trace

__all__ = ["parse_price", "read_prices", "stats"]


def parse_price(text: str) -> tuple[str, ModelPrice]:
    """`MODEL=IN/OUT`, in USD per million tokens."""
    model, _, numbers = text.rpartition("=")
    sent, _, made = numbers.partition("/")
    try:
        price = ModelPrice(input=float(sent), output=float(made))
    except ValueError:
        price = None
    if price is None or not model or not (price.input >= 0 and price.output >= 0):
        raise Failure(f"--price {text!r}: expected MODEL=IN/OUT, USD per million tokens")
    return model, price


def read_prices(path: Path) -> dict[str, ModelPrice]:
    """A JSON file `{"MODEL": {"input": IN, "output": OUT}}`, in USD per million tokens."""
    try:
        prices = msgspec.json.decode(path.read_bytes(), type=dict[str, _Price])
    except OSError as error:
        raise Failure(f"{path}: cannot be read: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise Failure(
            f'{path}: {error}; expected {{"MODEL": {{"input": IN, "output": OUT}}}}, '
            "USD per million tokens"
        ) from error
    return {model: ModelPrice(price.input, price.output) for model, price in prices.items()}


class _Price(msgspec.Struct, forbid_unknown_fields=True):
    input: Annotated[float, msgspec.Meta(ge=0)]
    output: Annotated[float, msgspec.Meta(ge=0)]


def stats(trace: Trace, out: Out, *, cost: bool, prices: dict[str, ModelPrice]) -> None:
    events = list(trace.events)
    out.line((str(trace.path), "bold"))
    known = [event.ts for event in events if event.ts]
    if known:
        out.line(f"recorded: {when(known[0])}")
    kinds = Counter(event.kind for event in events)
    by_kind = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    out.line(f"steps:    {len(events)}" + (f" ({by_kind})" if by_kind else ""))
    failed = [e for e in events if e.damage is None and e.error is not None]
    out.line(f"errors:   {len(failed)}")
    if failed:
        error = failed[0].error or {}
        text = one_line(f"{error.get('type')}: {error.get('message')}", 200)
        out.line(f"first:    step {failed[0].seq}, {clean(failed[0].name)}, {text}")
    top = sum(event.duration_ms for event in events if event.parent is None)
    out.line(f"time:     {seconds(top)} in recorded calls")
    if not trace.complete:
        out.line(f"the recording did not finish; calls in flight: {len(trace.unfinished)}")
    sums = account(trace, prices=prices)
    if sums.per_model:
        _tokens(sums, out, cost=cost)


def _tokens(sums: Accounting, out: Out, *, cost: bool) -> None:
    width = max(len("total"), *(len(usage.model) for usage in sums.per_model))
    money = f"{'cost':>12}" if cost else ""
    out.line()
    out.line(("tokens" + (" and estimated cost" if cost else ""), "bold"))
    out.line((f"  {'model':<{width}} {'calls':>7} {'input':>12} {'output':>12}{money}", "dim"))
    for usage in sums.per_model:
        known = usage.calls_with_usage > 0
        sent = str(usage.input_tokens) if known else "unknown"
        made = str(usage.output_tokens) if known else "unknown"
        price = _money(usage.cost if usage.priced else None) if cost else ""
        out.line(f"  {clean(usage.model):<{width}} {usage.calls:>7} {sent:>12} {made:>12}{price}")
    any_known = sums.calls_without_usage < sum(usage.calls for usage in sums.per_model)
    sent = str(sums.total_input_tokens) if any_known else "unknown"
    made = str(sums.total_output_tokens) if any_known else "unknown"
    calls = sum(usage.calls for usage in sums.per_model)
    price = _money(sums.total_cost) if cost else ""
    out.line(f"  {'total':<{width}} {calls:>7} {sent:>12} {made:>12}{price}")
    if sums.calls_without_usage:
        n = sums.calls_without_usage
        out.line(f"  {n} call{'' if n == 1 else 's'} recorded without usage: not in these sums")
    if cost:
        _about_prices(sums, out)


def _about_prices(sums: Accounting, out: Out) -> None:
    if sums.unpriced_models:
        names = clean(", ".join(sums.unpriced_models))
        out.line(f"  no price known for {names}: give one with --price MODEL=IN/OUT")
    if not prices_known():
        out.line('  for a price list: pip install "rewind-core[cost]"')
    elif sums.total_cost is not None:
        out.line("  cost is an estimate from list prices")


def _money(cost: float | None) -> str:
    if cost is None:
        return f"{'unknown':>12}"
    digits = 4 if cost >= 0.01 or not cost else 6
    return f"{f'${cost:.{digits}f}':>12}"
