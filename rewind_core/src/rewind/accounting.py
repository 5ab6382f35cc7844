"""Tokens and cost of a trace. Tokens are what providers reported; cost is an estimate.

Prices come from the `genai-prices` package when it is installed (the `cost` extra) and from
what the caller gives. What is unknown stays unknown: it is never counted as zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from .formats import Reading, Usage, read

if TYPE_CHECKING:
    from .trace import Event, Trace

__all__ = [
    "DEFAULT_PRICES",
    "Accounting",
    "ModelPrice",
    "ModelUsage",
    "account",
    "prices_known",
]

UNKNOWN_MODEL = "(unknown model)"


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """USD per 1,000,000 tokens."""

    input: float
    output: float


@dataclass(slots=True, kw_only=True)
class ModelUsage:
    """The sums of one model. `cost` is `None` when no priced call was seen.

    `priced` says that every call with known tokens has a price.
    """

    model: str
    calls: int = 0
    calls_with_usage: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    priced: bool = True

    @property
    def calls_without_usage(self) -> int:
        return self.calls - self.calls_with_usage

    @property
    def total_tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(slots=True, kw_only=True)
class Accounting:
    per_model: list[ModelUsage] = field(default_factory=list)

    @property
    def total_input_tokens(self) -> int:
        return sum(usage.input_tokens for usage in self.per_model)

    @property
    def total_output_tokens(self) -> int:
        return sum(usage.output_tokens for usage in self.per_model)

    @property
    def total_tokens(self) -> int:
        return self.total_input_tokens + self.total_output_tokens

    @property
    def total_cost(self) -> float | None:
        """The sum over priced models; `None` when there is none. See `unpriced_models`."""
        known = [usage.cost for usage in self.per_model if usage.cost is not None]
        return sum(known) if known else None

    @property
    def calls_without_usage(self) -> int:
        return sum(usage.calls_without_usage for usage in self.per_model)

    @property
    def unpriced_models(self) -> list[str]:
        return [usage.model for usage in self.per_model if not usage.priced]


def prices_known() -> bool:
    """Whether a price list is installed."""
    return _price_list() is not None


def account(trace: Trace, *, prices: Mapping[str, ModelPrice] | None = None) -> Accounting:
    """Sum the model calls of `trace` per model; `prices` go before the installed price list."""
    own = dict(prices or {})
    read_events = [(event, _reading(event)) for event in trace.events if event.kind == "llm"]
    children: dict[int, list[Usage | None]] = {}
    for event, reading in read_events:
        if event.parent is not None:
            children.setdefault(event.parent, []).append(reading.usage)
    sums: dict[str, ModelUsage] = {}
    for event, reading in read_events:
        inner = children.get(event.seq)
        if inner is not None and _covered(reading.usage, inner):
            continue
        model = reading.model or UNKNOWN_MODEL
        _add(sums.setdefault(model, ModelUsage(model=model)), event, reading.usage, own)
    return Accounting(per_model=sorted(sums.values(), key=lambda usage: usage.model))


def _reading(event: Event) -> Reading:
    return Reading() if event.damage is not None else read(event, history=False)


def _covered(usage: Usage | None, inner: list[Usage | None]) -> bool:
    """Whether a call's tokens are those of the calls made inside it, which count by themselves."""
    if usage is None or not usage.known:
        return True
    known = [one for one in inner if one is not None]
    return (usage.input_tokens, usage.output_tokens) == (
        sum(one.input_tokens or 0 for one in known),
        sum(one.output_tokens or 0 for one in known),
    )


def _add(
    total: ModelUsage, event: Event, usage: Usage | None, prices: Mapping[str, ModelPrice]
) -> None:
    total.calls += 1
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return
    total.calls_with_usage += 1
    total.input_tokens += usage.input_tokens
    total.output_tokens += usage.output_tokens
    price = prices.get(total.model)
    if price is not None:
        cost = (usage.input_tokens * price.input + usage.output_tokens * price.output) / 1e6
    else:
        cost = _listed_cost(event, total.model, usage)
    if cost is None:
        total.priced = False
    else:
        total.cost = (total.cost or 0.0) + cost


def _price_list() -> Any:
    try:
        import genai_prices
    except ImportError:
        return None
    return genai_prices


class _PriceList(Mapping[str, ModelPrice]):
    """The installed price list, read when it is first looked at."""

    def __init__(self) -> None:
        self._prices: dict[str, ModelPrice] | None = None

    def _read(self) -> dict[str, ModelPrice]:
        if self._prices is None:
            self._prices = dict(_listed_prices())
        return self._prices

    def __getitem__(self, model: str) -> ModelPrice:
        return self._read()[model]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())


DEFAULT_PRICES: Mapping[str, ModelPrice] = _PriceList()
"""Today's list price of each model, by its name; empty without the `cost` extra.

The first provider that lists a model counts. `account` is more exact: it knows the
provider and the date of a call, and prices of cached tokens.
"""


def _listed_prices() -> Iterator[tuple[str, ModelPrice]]:
    if _price_list() is None:
        return
    from genai_prices.data_snapshot import get_snapshot

    now = datetime.now(tz=timezone.utc)
    seen: set[str] = set()
    for provider in get_snapshot().providers:
        for model in provider.models:
            price = model.get_prices(now)
            sent, made = _base(price.input_mtok), _base(price.output_mtok)
            if model.id not in seen and sent is not None and made is not None:
                seen.add(model.id)
                yield model.id, ModelPrice(input=sent, output=made)


def _base(price: Any) -> float | None:
    """A price per million tokens; of one in tiers, that of the first."""
    price = getattr(price, "base", price)
    return None if price is None else float(price)


def _listed_cost(event: Event, model: str, usage: Usage) -> float | None:
    """The price list's figure for one call: by provider if it knows that, else by model alone."""
    prices = _price_list()
    if prices is None:
        return None
    tokens = prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cache_read_tokens,
        cache_write_tokens=usage.cache_write_tokens,
    )
    when = datetime.fromtimestamp(event.time, tz=timezone.utc)
    for provider in (event.name.partition(".")[0], None):
        try:
            found = prices.calc_price(
                tokens, model_ref=model, provider_id=provider, genai_request_timestamp=when
            )
        except (LookupError, ValueError):
            continue
        return float(found.total_price)
    return None
