"""Every segment of the live traffic against every gate, so that no average hides one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from gates.models import Evaluation, Window
from gates.selectors.evidence import items_for
from gates.selectors.verdicts import GRAVITY, latest, live_window
from gates.states import Metric, VerdictState
from ingest.selectors import counted
from orchid.engine.document.contract import GatedSegment
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import dims_of, matches
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.evidence import Book
from orchid.engine.verdict.gates import Observed, judge
from orchid.engine.verdict.result import Result
from policies.models import Product
from policies.selectors import document_of

#: Segments that one page shows, the worst first.
MOST_ROWS = 200


@dataclass(frozen=True)
class HeatRow:
    """One segment by its key ("" is the whole), with a result for each metric of the map.

    `gates` are the gated segments that take it; without any, its verdicts are for the eye alone.
    """

    key: str
    gates: Sequence[str]
    responses: int
    results: Sequence[Result | None]

    @property
    def gravity(self) -> int:
        """That of its gravest verdict; small is grave."""
        found = [GRAVITY.index(VerdictState(one.verdict)) for one in self.results if one]
        return min(found, default=len(GRAVITY))


@dataclass(frozen=True)
class HeatMap:
    """Segments by gates for one judgement; `hidden` are segments beyond what a page shows."""

    window: Window | None
    evaluation: Evaluation | None
    metrics: Sequence[Metric]
    rows: Sequence[HeatRow]
    hidden: int = 0

    @property
    def worst(self) -> HeatRow | None:
        """The segment that stands worst, where any does not pass."""
        grave = [row for row in self.rows if row.key and row.gravity < len(GRAVITY) - 1]
        return grave[0] if grave else None


def heat_map(product: Product) -> HeatMap:
    """The live window as it was judged last, segment by segment."""
    window = live_window(product)
    evaluation = latest(window) if window else None
    if window is None or evaluation is None:
        return HeatMap(window, evaluation, [], [])
    document = document_of(window.digest)
    found = _counted(window, evaluation)
    results = _results(product, document, found, evaluation.watermark)
    metrics = [m for m in Metric if any(m == one.metric for one in results[""])]
    rows = [_row(document, found, metrics, key, mine) for key, mine in results.items()]
    whole, others = rows[0], sorted(rows[1:], key=lambda r: (r.gravity, -r.responses, r.key))
    shown = [whole, *others[:MOST_ROWS]]
    return HeatMap(window, evaluation, metrics, shown, len(others) - len(shown) + 1)


def _counted(window: Window, evaluation: Evaluation) -> Counted:
    start, end = (datetime.fromisoformat(evaluation.figures[name]) for name in ("from", "to"))
    return counted(window.product, window.digest, window.publication, window.cohort, start, end)


def _results(
    product: Product, document: PolicyDocument, found: Counted, at: datetime
) -> dict[str, list[Result]]:
    """By segment, the gates that a segment can have; the whole comes first.

    The cost of a segment is no gate: the ledger pays for a fleet.
    """
    # What names no dimension at all is in the whole and in no segment.
    keys = sorted({name.dims_key for name in found.cells} - {""})
    named = {f"#{n}": key for n, key in enumerate(keys)}
    book = Book(items_for(product, {name.manifest for name in found.cells}), document, at)
    nothing = Counted.empty(found.start, found.end, timedelta(seconds=found.step_s))
    observed = Observed(found, nothing, Decimal(0), book)
    judged = judge(_gating(document, named), observed)
    results: dict[str, list[Result]] = {"": []}
    for one in judged.results:
        if one.metric != Metric.COST:
            results.setdefault(named.get(one.segment, ""), []).append(one)
    return results


def _gating(document: PolicyDocument, named: dict[str, str]) -> PolicyDocument:
    """The same document with a gate on each segment of the traffic, in place of its own."""
    minimum = document.gates.attainment.minimum_sample
    segments = tuple(
        GatedSegment.model_construct(name=name, where=dims_of(key), minimum_sample=minimum)
        for name, key in named.items()
    )
    gates = document.gates.model_copy(update={"segments": segments})
    return document.model_copy(update={"gates": gates})


def _row(
    document: PolicyDocument,
    found: Counted,
    metrics: Sequence[Metric],
    key: str,
    results: Sequence[Result],
) -> HeatRow:
    by_metric = {one.metric: one for one in results}
    dims = dims_of(key)
    taking = [one.name for one in document.gates.segments if key and matches(one.where, dims)]
    eligible = found.of("eligible").tolist()
    mine = (n for name, n in zip(found.cells, eligible, strict=True) if key in ("", name.dims_key))
    return HeatRow(key, taking, sum(mine), [by_metric.get(metric) for metric in metrics])
