"""What many requests come to: counts, sums and one histogram, which merge in any order.

Everything that is added is a whole number or an exact decimal, so that merging is associative and
commutative to the last digit: however requests were batched, repeated merges give equal sums. A
duration is summed in whole microseconds, tokens and bytes as they are, demand and money as decimals
of a fixed number of places.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Context, Decimal
from typing import NamedTuple

#: Why work was wasted (see `orchid.engine.waste`).
CAUSES = ("failed", "late", "cancelled", "abandoned_prefill", "preempted", "padded")
#: The figures that are summed beside the populations, each with its parts: how many of the whole
#: numbers that are added make one of its unit. One of wasted work counts the requests that have
#: any.
FIGURES: Mapping[str, int] = {
    "first_token_ms": 1000,
    "queue_ms": 1000,
    "max_gap_ms": 1000,
    "transfer_bytes": 1,
    "live_token_ms": 1000,
    "cancel_to_release_ms": 1000,
    "preemptions": 1,
    "input_tokens": 1,
    "cached_input_tokens": 1,
    "output_tokens": 1,
    "teu_predicted": 1_000_000,
    "teu_observed": 1_000_000,
    # Of all attempts: how many, time on devices, TEU (observed, else predicted), calls to
    # services outside.
    "attempts": 1,
    "accelerator_ms": 1000,
    "work_teu": 1_000_000,
    "external_calls": 1,
    # What admission reserved.
    "output_tokens_predicted": 1,
    "live_token_ms_predicted": 1000,
    **{f"wasted_{cause}_ms": 1000 for cause in CAUSES},
    **{f"wasted_{cause}_teu": 1_000_000 for cause in CAUSES},
}
TEU_STEP = Decimal("1e-6")
USD_STEP = Decimal("1e-12")
#: Wide enough that no sum of a fleet's years is ever rounded.
EXACT = Context(prec=60)


class RollupKey(NamedTuple):
    """What one rollup is about; `dims` is sorted by name, `route` and `manifest` may be empty."""

    step_at: datetime
    publication: int | None
    digest: str
    cohort: str
    dims: tuple[tuple[str, str], ...]
    route: str
    manifest: str


class TenantKey(NamedTuple):
    """What one rollup by tenant is about."""

    step_at: datetime
    publication: int | None
    digest: str
    cohort: str
    tenant: str


@dataclass(slots=True)
class Figure:
    """Many values of one figure: how many were known, their sum and the largest, in parts."""

    count: int = 0
    total: int = 0
    maximum: int = 0

    def merge(self, other: "Figure") -> None:
        """Add what the other holds."""
        self.count += other.count
        self.total += other.total
        self.maximum = max(self.maximum, other.maximum)


def parts_of(name: str, value: float | Decimal) -> int:
    """A figure's value in the whole parts that are added: 1.5 ms are 1,500; half to even."""
    return round(value * FIGURES[name])


def mean_of(name: str, figure: Figure) -> float | None:
    """The mean in the figure's own unit; None when no request had it."""
    return figure.total / (figure.count * FIGURES[name]) if figure.count else None


def maximum_of(name: str, figure: Figure) -> float | None:
    """The largest in the figure's own unit; None when no request had it."""
    return figure.maximum / FIGURES[name] if figure.count else None


@dataclass(slots=True)
class Sums:
    """What the requests of one key come to.

    `counters` are the populations of `orchid.engine.outcome.COUNTERS`, `histogram` the completion
    times on the fixed grid. A latency bound has two counters under its key: `judged`, how many
    requests of its population were compared with it, and `within`, how many of those kept it.
    A bound was counted whole where `judged` equals the population.
    """

    counters: Counter[str] = field(default_factory=Counter)
    histogram: Counter[int] = field(default_factory=Counter)
    within: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)
    figures: dict[str, Figure] = field(default_factory=dict)
    teu: Decimal = Decimal(0)
    cost_usd: Decimal = Decimal(0)
    records: int = 0

    def observe(self, name: str, value: float | Decimal | None) -> None:
        """Add one request's value of a figure; an unknown one adds nothing."""
        if value is not None:
            parts = parts_of(name, value)
            self.figures.setdefault(name, Figure()).merge(Figure(1, parts, parts))

    def add_teu(self, value: Decimal) -> None:
        """Add reserved TEU, to the sixth place."""
        self.teu = EXACT.add(self.teu, EXACT.quantize(value, TEU_STEP))

    def add_usd(self, value: Decimal) -> None:
        """Add dollars, to the twelfth place."""
        self.cost_usd = EXACT.add(self.cost_usd, EXACT.quantize(value, USD_STEP))

    def merge(self, other: "Sums") -> None:
        """Add what the other holds; the other stays as it is."""
        for name in ("counters", "histogram", "within", "judged"):
            mine = getattr(self, name)
            for key, count in getattr(other, name).items():
                if count:
                    mine[key] += count
        for name, figure in other.figures.items():
            self.figures.setdefault(name, Figure()).merge(figure)
        self.teu = EXACT.add(self.teu, other.teu)
        self.cost_usd = EXACT.add(self.cost_usd, other.cost_usd)
        self.records += other.records


def merged(left: Sums, right: Sums) -> Sums:
    """Both as one, and neither changed; associative and commutative."""
    return merged_all((left, right))


def merged_all(parts: Iterable[Sums]) -> Sums:
    """Any number of sums as one; none at all are empty sums."""
    whole = Sums()
    for part in parts:
        whole.merge(part)
    return whole


def step_of(arrived_at: datetime, step_s: int) -> datetime:
    """The start of the step of an arrival; steps count from the epoch."""
    since = arrived_at - datetime(1970, 1, 1, tzinfo=UTC)
    whole_s = since.days * 86_400 + since.seconds
    return datetime.fromtimestamp(whole_s // step_s * step_s, UTC)
