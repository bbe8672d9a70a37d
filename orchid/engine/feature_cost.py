"""What a feature costs by who answers it: large only, a cascade, a perfect classifier."""

from dataclasses import dataclass
from decimal import Decimal

from orchid.engine.arithmetic import (
    Assistant,
    cascade_break_even,
    prefix_break_even,
    prefix_cost,
)
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.money import Price
from orchid.engine.routing import class_route

#: Prices of a cache write and read against plain input where no upstream states its own.
WRITE_PRICE, READ_PRICE = Decimal("1.25"), Decimal("0.1")


@dataclass(frozen=True, slots=True)
class CostRow:
    """One way to answer, in large-model input tokens a request."""

    way: str
    uncached: Decimal
    cached: Decimal


@dataclass(frozen=True, slots=True)
class CostTable:
    """The ways side by side, and where each begins to pay.

    `prefix_from_use` is the first use at which caching the prefix is cheaper, None where it never
    is; `prefix_saving` the part saved over `uses` uses of it; `break_even` the escalation rate from
    which the cascade costs as much as the large route alone.
    """

    small: str | None
    large: str
    rows: tuple[CostRow, ...]
    escalation: Decimal
    break_even: Decimal | None
    prefix_from_use: int | None
    prefix_saving: Decimal | None
    uses: int

    @property
    def cascade_pays(self) -> bool | None:
        return None if self.break_even is None else self.escalation < self.break_even


@dataclass(frozen=True, slots=True)
class Repeats:
    """How much of a prompt repeats, how often a cache holds it, how often small is not enough."""

    prefix_tokens: int
    hit_rate: Decimal
    escalation: Decimal
    uses: int = 10


def cost_table(document: PolicyDocument, cls: str, repeats: Repeats) -> CostTable:
    """The class's declared shape by the document's own weights and prices.

    An output token weighs 1 / input weight input tokens; the small route costs the cascade's stated
    ratio, else the ratio of the demand factors.
    """
    traffic, pair = document.classes[cls], document.routing.cascade or document.routing.classifier
    large = pair.large if pair else class_route(document, cls)
    small = small_price(document)
    write, read = cache_prices(document.prices.get(large))
    asks = Assistant(
        prefix_tokens=repeats.prefix_tokens,
        input_tokens=max(traffic.input_tokens - repeats.prefix_tokens, 0),
        output_tokens=traffic.max_output_tokens,
        output_weight=1 / document.demand.input_weight,
        small_price=small if small is not None else Decimal(1),
        write_price=write,
        read_price=read,
        hit_rate=repeats.hit_rate,
        escalation=repeats.escalation,
    )
    return CostTable(
        small=pair.small if pair else None,
        large=large,
        rows=_rows(asks, routed=small is not None),
        escalation=repeats.escalation,
        break_even=cascade_break_even(small) if small is not None else None,
        prefix_from_use=prefix_break_even(write, read),
        prefix_saving=_saving(repeats, write, read),
        uses=repeats.uses,
    )


def small_price(document: PolicyDocument) -> Decimal | None:
    """Cost of a small call over a large one; None where the document has no such pair."""
    cascade = document.routing.cascade
    if cascade is not None and cascade.small_cost_ratio is not None:
        return cascade.small_cost_ratio
    return factor_ratio(document)


def factor_ratio(document: PolicyDocument) -> Decimal | None:
    """The same by the demand model alone."""
    pair = document.routing.cascade or document.routing.classifier
    factors = document.demand.model_factor
    if pair is None or pair.small not in factors or pair.large not in factors:
        return None
    return factors[pair.small] / factors[pair.large]


def cache_prices(price: Price | None) -> tuple[Decimal, Decimal]:
    """A cache write and read against plain input: the upstream's own, else the usual ones."""
    if price is None or not price.input_usd_per_million:
        return WRITE_PRICE, READ_PRICE
    plain = price.input_usd_per_million
    written, cached = price.cache_write_usd_per_million, price.cached_input_usd_per_million
    one = Decimal(1)
    return (
        one if written is None else written / plain,
        one if cached is None else cached / plain,
    )


def _rows(asks: Assistant, *, routed: bool) -> tuple[CostRow, ...]:
    large = CostRow("large only", asks.large_only(cached=False), asks.large_only(cached=True))
    if not routed:
        return (large,)
    return (
        large,
        CostRow("cascade", asks.cascade(cached=False), asks.cascade(cached=True)),
        CostRow(
            "perfect classifier",
            asks.perfect_classifier(cached=False),
            asks.perfect_classifier(cached=True),
        ),
    )


def _saving(repeats: Repeats, write: Decimal, read: Decimal) -> Decimal | None:
    if not repeats.prefix_tokens:
        return None
    plain = Decimal(repeats.prefix_tokens * repeats.uses)
    return 1 - prefix_cost(repeats.prefix_tokens, repeats.uses, write, read) / plain
