"""The figures of a proposed generation: its own measurements, or what recorded requests predict."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import F
from django.utils import timezone

from gates import prediction
from gates.models import Window
from gates.prediction import Routed
from gates.selectors.evidence import book_for
from gates.selectors.verdicts import Figures
from ingest.models import RequestRow
from ingest.selectors import requests
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import decimal_text
from orchid.engine.economics import hourly_ledger_usd
from orchid.engine.histogram import rank_of
from orchid.engine.outcome import BIT_OF
from orchid.engine.segments import Where, matches, segment_key
from orchid.engine.verdict.traffic import Coverage
from orchid.engine.verdict.utility import Cell, index_of
from policies.models import Product

RECORDED = 5_000


@dataclass(frozen=True)
class After:
    """The proposed generation's figures, with their kind and how each was come by."""

    utility: float | None
    p95_ms: float | None
    cost_usd: Decimal | None
    attainment: float | None
    kind: str
    hows: dict[str, str]


def recorded(product: Product, window: Window) -> list[tuple[float, RequestRow]]:
    """The window's newest eligible requests, oldest first, with milliseconds from the first."""
    found = (
        requests(product)
        .filter(
            day__gte=window.opens_at.date(),
            publication=window.publication,
            digest=window.digest,
            cohort=window.cohort,
        )
        .alias(eligible=F("population_bits").bitand(BIT_OF["eligible"]))
        .filter(eligible__gt=0)
        .order_by("-arrived_at", "-id")
    )
    rows = list(found[:RECORDED])[::-1]
    return [((r.arrived_at - rows[0].arrived_at).total_seconds() * 1000, r) for r in rows]


def as_measured(own: Figures) -> After:
    publication = own.measured_on["publication"]
    how = f"Measured under publication {publication}, on {own.measured_on['requests']:,} requests."
    metrics = ("utility", "completion_p95_ms", "cost_per_success_usd", "attainment")
    return After(
        own.utility,
        own.p95_ms,
        own.cost_per_success_usd,
        own.attainment,
        "measured",
        dict.fromkeys(metrics, how),
    )


def as_predicted(
    product: Product, document: PolicyDocument, base: Figures | None, served: Sequence[Routed]
) -> After:
    servers = document.fleet.devices
    times = prediction.completions_ms(served, servers)
    rate = base.success_per_s if base else None
    hourly = hourly_ledger_usd(document)
    latency = prediction.HOW_LATENCY.format(requests=len(served), servers=servers)
    return After(
        utility=index_of(mix_cells(product, document, served, {})),
        p95_ms=_p95(times),
        cost_usd=hourly / 3600 / rate if rate else None,
        attainment=_in_time(served, times),
        kind="predicted",
        hows={
            "utility": prediction.HOW_UTILITY.format(requests=len(served)),
            "completion_p95_ms": latency,
            "cost_per_success_usd": _how_cost(hourly, rate),
            "attainment": f"{latency} The share that would meet its deadline.",
        },
    )


def _how_cost(hourly: Decimal, rate: Decimal | None) -> str:
    if not rate:
        return "Not predicted: no success was measured under the live generation."
    return prediction.HOW_COST.format(hourly=decimal_text(hourly), rate=rate)


def _p95(times: list[float] | None) -> float | None:
    return sorted(times)[rank_of(0.95, len(times)) - 1] if times else None


def _in_time(served: Sequence[Routed], times: list[float] | None) -> float | None:
    if not times:
        return None
    ordered = sorted(served, key=lambda request: request.arrived_ms)
    kept = sum(ms <= r.deadline_ms for ms, r in zip(times, ordered, strict=True))
    return kept / len(times)


def mix_cells(
    product: Product, document: PolicyDocument, served: Sequence[Routed], where: Where
) -> list[Cell]:
    """The mix that the new rules would give, each cell with its evidence."""
    book = book_for(product, document, timezone.now())
    coverage = Coverage(document, None, book)
    mix: dict[tuple[str, str], int] = {}
    dims: dict[str, dict[str, str]] = {}
    for request in served:
        if matches(where, request.dims):
            key = segment_key(request.dims)
            dims[key] = request.dims
            mix[key, request.route] = mix.get((key, request.route), 0) + 1
    return [
        Cell(
            f"{route} {key or 'everything'}",
            count,
            coverage.scores(dims[key], route, manifest_digest(document.models[route])),
        )
        for (key, route), count in sorted(mix.items())
    ]
