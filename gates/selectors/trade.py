"""What a proposed generation would trade against the live one: measured where it can be."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from gates import prediction
from gates.models import Window
from gates.prediction import Routed
from gates.selectors.verdicts import Figures, figures, figures_in, latest
from gates.services.inputs import evidence_digest, scoring_evidence
from gates.states import Metric
from ingest.models import RequestRow
from ingest.selectors import requests
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics import hourly_ledger_usd
from orchid.engine.histogram import rank_of
from orchid.engine.segments import Where, matches, segment_key, where_key
from orchid.engine.verdict.gates import least_utility, scopes
from orchid.engine.verdict.traffic import Coverage
from orchid.engine.verdict.utility import Cell, index_of
from orchid.engine.verdict.wording import plain
from policies.models import Product, Revision
from policies.selectors import document_of

RECORDED = 5_000


@dataclass(frozen=True)
class Traded:
    """One figure before and after, as decimal text in its unit; `how` is where `after` is from."""

    metric: str
    label: str
    before: str | None
    after: str | None
    change: str | None
    bound: str
    kind: str
    how: str


@dataclass(frozen=True)
class SegmentTrade:
    """A segment's utility before and after, against the floor of the proposed document."""

    name: str
    where: str
    floor: float
    before: float | None
    after: float | None
    n: int
    clears: bool | None


@dataclass(frozen=True)
class Trade:
    """The whole comparison, with the one baseline it is made against."""

    digest: str
    base: dict[str, Any] | None
    figures: list[Traded]
    segments: list[SegmentTrade]
    evidence_digest: str
    notes: list[str]

    def as_json(self) -> dict[str, Any]:
        """Plain data, equal for equal trades."""
        return asdict(self)


@dataclass(frozen=True)
class After:
    """The proposed generation's figures, with their kind and how each was come by."""

    utility: float | None
    p95_ms: float | None
    cost_usd: Decimal | None
    attainment: float | None
    kind: str
    hows: dict[str, str]


def predicted(product: Product, revision: Revision, base_window: Window | None) -> Trade:
    """Compare a revision with the live window's measured figures.

    Where the same content has been live, its own measurements stand; otherwise each figure is
    predicted from recorded requests and evidence and says so.
    """
    document = document_of(revision.digest)
    base = _measured(base_window)
    sample = _recorded(product, base_window) if base_window else []
    served = prediction.routed(document, sample)
    own = figures(product, revision.digest)
    after = _as_measured(own) if own else _as_predicted(product, document, base, served)
    segments = _segments(product, document, base, served, own)
    return Trade(
        digest=revision.digest,
        base={"digest": base.digest, **base.measured_on} if base else None,
        figures=_figures(document, base, after),
        segments=segments,
        evidence_digest=evidence_digest(scoring_evidence(product)),
        notes=_notes(base, own, len(sample), len(served)),
    )


def _measured(window: Window | None) -> Figures | None:
    evaluation = latest(window) if window else None
    return figures_in(window, evaluation) if window and evaluation else None


def _recorded(product: Product, window: Window) -> list[tuple[float, RequestRow]]:
    """The window's newest eligible requests, oldest first, with milliseconds from the first."""
    found = (
        requests(product)
        .filter(
            day__gte=window.opens_at.date(),
            publication=window.publication,
            digest=window.digest,
            cohort=window.cohort,
            populations__contains=["eligible"],
        )
        .order_by("-arrived_at", "-id")
    )
    rows = list(found[:RECORDED])[::-1]
    return [((r.arrived_at - rows[0].arrived_at).total_seconds() * 1000, r) for r in rows]


def _as_measured(own: Figures) -> After:
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


def _as_predicted(
    product: Product, document: PolicyDocument, base: Figures | None, served: Sequence[Routed]
) -> After:
    servers = document.fleet.devices
    times = prediction.completions_ms(served, servers)
    rate = base.success_per_s if base else None
    hourly = hourly_ledger_usd(document)
    latency = prediction.HOW_LATENCY.format(requests=len(served), servers=servers)
    return After(
        utility=index_of(_cells(product, document, served, {})),
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
    return prediction.HOW_COST.format(hourly=plain(hourly), rate=rate)


def _p95(times: list[float] | None) -> float | None:
    return sorted(times)[rank_of(0.95, len(times)) - 1] if times else None


def _in_time(served: Sequence[Routed], times: list[float] | None) -> float | None:
    if not times:
        return None
    ordered = sorted(served, key=lambda request: request.arrived_ms)
    kept = sum(ms <= r.deadline_ms for ms, r in zip(times, ordered, strict=True))
    return kept / len(times)


def _cells(
    product: Product, document: PolicyDocument, served: Sequence[Routed], where: Where
) -> list[Cell]:
    """The mix that the new rules would give, each cell with its evidence."""
    coverage = Coverage(document, [], scoring_evidence(product))
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


def _segments(
    product: Product,
    document: PolicyDocument,
    base: Figures | None,
    served: Sequence[Routed],
    own: Figures | None,
) -> list[SegmentTrade]:
    before = {row["key"]: row["utility"] for row in base.segments} if base else {}
    live = {row["key"]: row for row in own.segments} if own else {}
    found = []
    for scope in scopes(document)[1:]:
        key, floor = where_key(scope.where), least_utility(document, scope)
        cells = _cells(product, document, served, scope.where)
        after = live[key]["utility"] if key in live else index_of(cells)
        clears = None if after is None else after >= floor
        count = sum(cell.responses for cell in cells)
        found.append(SegmentTrade(scope.name, key, floor, before.get(key), after, count, clears))
    return found


_PLACES = {"utility": 4, "completion_p95_ms": 1, "cost_per_success_usd": 10, "attainment": 4}

Values = dict[str, float | Decimal | None]


def _figures(document: PolicyDocument, base: Figures | None, after: After) -> list[Traded]:
    bounds = _bounds(document)
    old = (
        _values(base.utility, base.p95_ms, base.cost_per_success_usd, base.attainment)
        if base
        else {}
    )
    new = _values(after.utility, after.p95_ms, after.cost_usd, after.attainment)
    return [
        _traded(Metric(metric), old.get(metric), new[metric], bounds[metric], after)
        for metric in _PLACES
    ]


def _values(
    utility: float | None, p95_ms: float | None, cost_usd: Decimal | None, attainment: float | None
) -> Values:
    return dict(zip(_PLACES, (utility, p95_ms, cost_usd, attainment), strict=True))


def _bounds(document: PolicyDocument) -> dict[str, str]:
    gates = document.gates
    return {
        "utility": f"{gates.utility.min:g}",
        "completion_p95_ms": f"{gates.completion_p95_ms.max}",
        "cost_per_success_usd": plain(gates.cost_per_success_usd.max),
        "attainment": f"{gates.attainment.min:g}",
    }


def _traded(
    metric: Metric,
    before: float | Decimal | None,
    value: float | Decimal | None,
    bound: str,
    after: After,
) -> Traded:
    old, new = _rounded(metric, before), _rounded(metric, value)
    change = None if old is None or new is None else plain(new - old)
    return Traded(
        metric=metric.value,
        label=str(metric.label),
        before=None if old is None else plain(old),
        after=None if new is None else plain(new),
        change=change,
        bound=bound,
        kind=after.kind,
        how=after.hows[metric],
    )


def _rounded(metric: str, value: float | Decimal | None) -> Decimal | None:
    return None if value is None else round(Decimal(str(value)), _PLACES[metric])


def _notes(base: Figures | None, own: Figures | None, recorded: int, served: int) -> list[str]:
    notes = []
    if base is None:
        notes.append("There is no measured live generation to compare with.")
    elif own is None and recorded == 0:
        notes.append("No request of the live generation is recorded, so nothing is predicted.")
    if recorded > served:
        notes.append(f"{recorded - served:,} recorded requests are of classes it does not know.")
    return notes
