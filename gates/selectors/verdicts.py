"""What the gates say: the latest judgement of a window, and a generation's measured figures."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet

from gates.models import Evaluation, Verdict, Window
from gates.states import Metric, VerdictState
from orchid.engine.verdict.accepted import PREFIX
from policies.models import Product

#: Worst first.
GRAVITY = (
    VerdictState.FAIL,
    VerdictState.NO_DATA,
    VerdictState.INCONCLUSIVE,
    VerdictState.PASS,
)


@dataclass(frozen=True)
class Figures:
    """A generation's measured figures; what was not measured is None."""

    digest: str
    utility: float | None
    p95_ms: float | None
    cost_per_success_usd: Decimal | None
    attainment: float | None
    success_per_s: Decimal | None
    segments: list[dict[str, Any]]
    measured_on: dict[str, Any]


@dataclass(frozen=True)
class Gate:
    """One metric at a glance: the whole's verdict, and the segment that stands worst."""

    metric: Metric
    whole: Verdict
    worst: Verdict
    others: Sequence[Verdict]

    @property
    def worst_is_a_segment(self) -> bool:
        return bool(self.worst.segment) and self.worst.verdict != VerdictState.PASS

    @property
    def is_share(self) -> bool:
        """Whether its interval is of a share and not of its value."""
        return self.metric.endswith("_p95_ms") or self.metric is Metric.VIOLATIONS

    @property
    def waiting(self) -> Verdict | None:
        """Of those that wait for more requests, the one that needs most."""
        some = [row for row in self.others if row.needs and row.verdict != VerdictState.PASS]
        return max(some, key=lambda row: row.needs or 0, default=None)


@dataclass(frozen=True)
class AcceptedRow:
    """A signed figure as a stage was judged by it: `accepted` is what was signed."""

    verdict: Verdict
    metric: Metric
    accepted: str | None


@dataclass(frozen=True)
class GatesNow:
    """The live window and its latest judgement; both None before the first publication."""

    window: Window | None
    evaluation: Evaluation | None
    gates: list[Gate]

    @property
    def headline(self) -> Verdict | None:
        """The gate and segment to name first; None where nothing but its validity is amiss."""
        worst = self.worst_first[0].worst if self.gates else None
        return worst if worst and worst.verdict != VerdictState.PASS else None

    @property
    def worst_first(self) -> list[Gate]:
        """The gravest gate first; of equals the fragile one, else in the document's order."""
        return sorted(self.gates, key=lambda gate: (_gravity(gate.worst), not gate.whole.fragile))

    @property
    def segments(self) -> list[tuple[str, list[Verdict | None]]]:
        """A row for the whole and for each gated segment, a cell for each metric."""
        names = dict.fromkeys(v.segment for gate in self.gates for v in gate.others)
        return [(name, [_cell(gate, name) for gate in self.gates]) for name in names]


def latest(window: Window) -> Evaluation | None:
    """The judgement that holds of a window."""
    return Evaluation.objects.filter(watch__window=window).first()


def window_for(product: Product, publication: int, cohort: str | None = None) -> Window | None:
    """The window of a publication; without a cohort, that of the newest generation in it."""
    found = Window.objects.filter(product=product, publication=publication)
    return (found.filter(cohort=cohort) if cohort else found).order_by("-opens_at", "-id").first()


def live_window(product: Product) -> Window | None:
    """The newest window that is still open, else the newest of all.

    A stage that too few edges run yet is looked at for harm only: what went before still speaks.
    """
    found = Window.objects.filter(product=product).order_by("-opens_at", "-publication", "cohort")
    begun = found.exclude(hold_until=None, live_from=None)
    return begun.filter(closes_at=None).first() or begun.first() or found.first()


def history(product: Product) -> QuerySet[Evaluation]:
    """Every judgement of a product, to be paged newest first."""
    # By the windows' ids: over a join the newest are found by sorting all of them.
    windows = list(Window.objects.filter(product=product).values_list("pk", flat=True))
    found = Evaluation.objects.filter(window_id__in=windows).select_related("window")
    return found.defer("figures", "validity")


def gates_now(product: Product, window: Window | None = None) -> GatesNow:
    """The gates at a glance for the live window, or for the window given."""
    window = window or live_window(product)
    evaluation = latest(window) if window else None
    return GatesNow(window, evaluation, gates_of(evaluation) if evaluation else [])


def gates_of(evaluation: Evaluation) -> list[Gate]:
    """The judgement by metric, in the order of the document's gates."""
    rows = list(evaluation.verdicts.all())
    found = []
    for metric in Metric:
        mine = [row for row in rows if row.metric == metric]
        whole = next((row for row in mine if not row.segment), None)
        if whole:
            mine.sort(key=lambda row: (row.segment != "", row.pk))
            found.append(Gate(metric, whole, min(mine, key=_badness), mine))
    return found


def beside_gates(evaluation: Evaluation) -> list[Verdict]:
    """Guardrails and whatever else is judged beside the gates, the gravest first."""
    rows = evaluation.verdicts.exclude(metric__in=Metric.values).order_by("pk")
    return sorted(rows.exclude(metric__startswith=PREFIX), key=_gravity)


def accepted_of(evaluation: Evaluation) -> list[AcceptedRow]:
    """The figures that the stage's approvers signed, each as it was judged, the gravest first."""
    rows = evaluation.verdicts.filter(metric__startswith=PREFIX).order_by("pk")
    signed = evaluation.window.accepted
    return [
        AcceptedRow(row, metric, signed.get(metric, {}).get(row.segment, {}).get("accepted"))
        for row in sorted(rows, key=_gravity)
        if (metric := Metric(row.metric.removeprefix(PREFIX)))
    ]


def figures(product: Product, digest: str) -> Figures | None:
    """What was last measured of a generation; None where it never had an eligible request."""
    judged = judged_with_traffic(product, digest)
    return figures_in(*judged) if judged else None


def judged_with_traffic(product: Product, digest: str) -> tuple[Window, Evaluation] | None:
    """A generation's newest window that had an eligible request, with its judgement."""
    windows = Window.objects.filter(product=product, digest=digest).order_by("-opens_at", "-id")
    for window in windows.select_related("product")[:10]:
        evaluation = latest(window)
        if evaluation and _eligible(evaluation):
            return window, evaluation
    return None


def figures_in(window: Window, evaluation: Evaluation) -> Figures:
    """The figures of one judgement."""
    whole, cost = evaluation.figures["whole"], evaluation.figures["cost"]
    successes, seconds = cost["successes"], Decimal(cost["seconds"])
    priced = not whole["populations"].get("unpriced")
    return Figures(
        digest=window.digest,
        utility=whole["utility"],
        p95_ms=whole["p95_ms"],
        cost_per_success_usd=Decimal(cost["usd"]) / successes if successes and priced else None,
        attainment=whole["attainment"],
        success_per_s=successes / seconds if seconds else None,
        segments=evaluation.figures["segments"],
        measured_on={
            "publication": window.publication,
            "cohort": window.cohort,
            "from": evaluation.figures["from"],
            "to": evaluation.figures["to"],
            "requests": whole["populations"].get("eligible", 0),
            "evaluation": evaluation.pk,
            "evidence_digest": evaluation.evidence_digest,
        },
    )


def _eligible(evaluation: Evaluation) -> int:
    return int(evaluation.figures.get("whole", {}).get("populations", {}).get("eligible", 0))


def _badness(row: Verdict) -> tuple[int, Decimal]:
    """Of rows of one gate: the gravest verdict first, then the smallest margin."""
    return _gravity(row), Decimal("inf") if row.margin is None else Decimal(row.margin)


def _gravity(row: Verdict) -> int:
    return GRAVITY.index(VerdictState(row.verdict))


def _cell(gate: Gate, segment: str) -> Verdict | None:
    return next((row for row in gate.others if row.segment == segment), None)
