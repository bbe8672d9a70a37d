"""What a proposed generation would trade against the live one: measured where it can be."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from gates import prediction
from gates.models import Window
from gates.prediction import Routed
from gates.selectors.evidence import evidence_digest, items_for, manifests_of
from gates.selectors.proposed import After, as_measured, as_predicted, mix_cells, recorded
from gates.selectors.verdicts import Figures, figures, figures_in, latest
from gates.states import Metric
from ingest.models import RequestRow
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.values import decimal_text
from orchid.engine.segments import where_key
from orchid.engine.verdict.gates import least_utility, scopes
from orchid.engine.verdict.utility import index_of
from policies.models import Product, Revision
from policies.selectors import document_of


@dataclass(frozen=True)
class Traded:
    """One figure before and after, as decimal text in its unit; `how` is where `after` is from.

    `of_live` is what the same method tells of the live generation, whose measured figure is
    `before`: how far off the method is. None where `after` was measured, or nothing can be told.
    """

    metric: str
    label: str
    before: str | None
    after: str | None
    change: str | None
    bound: str
    kind: str
    how: str
    of_live: str | None = None


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


def predicted(product: Product, revision: Revision, base_window: Window | None) -> Trade:
    """Compare a revision with the live window's measured figures.

    Where the same content has been live, its own measurements stand; otherwise each figure is
    predicted from recorded requests and evidence and says so.
    """
    document = document_of(revision.digest)
    base = _measured(base_window)
    sample = recorded(product, base_window) if base_window else []
    served = prediction.routed(document, sample)
    own = figures(product, revision.digest)
    after = as_measured(own) if own else as_predicted(product, document, base, served)
    of_live = None if own or base is None else _told_of_live(product, base, sample)
    segments = _segments(product, document, base, served, own)
    return Trade(
        digest=revision.digest,
        base={"digest": base.digest, **base.measured_on} if base else None,
        figures=_figures(document, base, after, of_live),
        segments=segments,
        evidence_digest=evidence_digest(items_for(product, manifests_of(document).values())),
        notes=_notes(base, own, len(sample), len(served)),
    )


def _measured(window: Window | None) -> Figures | None:
    evaluation = latest(window) if window else None
    return figures_in(window, evaluation) if window and evaluation else None


def _told_of_live(
    product: Product, base: Figures, sample: Sequence[tuple[float, RequestRow]]
) -> After:
    """The method of the prediction on what is live, where the truth is known."""
    document = document_of(base.digest)
    return as_predicted(product, document, base, prediction.routed(document, sample))


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
        cells = mix_cells(product, document, served, scope.where)
        after = live[key]["utility"] if key in live else index_of(cells)
        clears = None if after is None else after >= floor
        count = sum(cell.responses for cell in cells)
        found.append(SegmentTrade(scope.name, key, floor, before.get(key), after, count, clears))
    return found


_PLACES = {"utility": 4, "completion_p95_ms": 1, "cost_per_success_usd": 10, "attainment": 4}

Values = dict[str, float | Decimal | None]


def _figures(
    document: PolicyDocument, base: Figures | None, after: After, of_live: After | None
) -> list[Traded]:
    limits = bounds(document)
    old = (
        _values(base.utility, base.p95_ms, base.cost_per_success_usd, base.attainment)
        if base
        else {}
    )
    new, told = _values_of(after), _values_of(of_live) if of_live else {}
    return [
        _traded(
            Metric(metric), (old.get(metric), new[metric], told.get(metric)), limits[metric], after
        )
        for metric in _PLACES
    ]


def _values_of(after: After) -> Values:
    return _values(after.utility, after.p95_ms, after.cost_usd, after.attainment)


def _values(
    utility: float | None, p95_ms: float | None, cost_usd: Decimal | None, attainment: float | None
) -> Values:
    return dict(zip(_PLACES, (utility, p95_ms, cost_usd, attainment), strict=True))


def bounds(document: PolicyDocument) -> dict[str, str]:
    """The bounds that a trade is held against, as decimal text by metric."""
    gates = document.gates
    return {
        "utility": f"{gates.utility.min:g}",
        "completion_p95_ms": f"{gates.completion_p95_ms.max}",
        "cost_per_success_usd": decimal_text(gates.cost_per_success_usd.max),
        "attainment": f"{gates.attainment.min:g}",
    }


def _traded(
    metric: Metric, values: tuple[float | Decimal | None, ...], bound: str, after: After
) -> Traded:
    old, new, told = (_rounded(metric, value) for value in values)
    change = None if old is None or new is None else decimal_text(new - old)
    return Traded(
        metric=metric.value,
        label=str(metric.label),
        before=None if old is None else decimal_text(old),
        after=None if new is None else decimal_text(new),
        change=change,
        bound=bound,
        kind=after.kind,
        how=after.hows[metric],
        of_live=None if told is None else decimal_text(told),
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
