"""Everything that a judgement of a window rests on, gathered once and named by its digest."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from gates.models import Evidence, Window
from gates.states import SCORING_KINDS
from ingest.selectors import RollupRow, completeness, rollup_rows, watermark
from orchid.engine.document.model import PolicyDocument
from orchid.engine.verdict import exposure
from orchid.engine.verdict.exposure import Split
from orchid.engine.verdict.gates import Observed
from orchid.engine.verdict.validity import Check, Clock, check_all, limits_for
from policies.models import Product
from policies.selectors import document_of

#: A live generation's window starts anew every so many steps, counted from its opening, so that it
#: stays between one and two stretches long: each is a test of its own, and it costs the same to
#: read in a year. With steps of a minute a stretch is six hours.
STRETCH_STEPS = 360


@dataclass(frozen=True)
class Inputs:
    """A window's document, traffic, evidence and validity at one watermark."""

    document: PolicyDocument
    observed: Observed
    evidence: list[Evidence]
    checks: list[Check]
    start: datetime
    end: datetime
    cost_start: datetime
    cost_end: datetime

    @property
    def digest(self) -> str:
        """Equal inputs have an equal digest, whatever the batches they came in."""
        text = json.dumps(_spelled(self), sort_keys=True, separators=(",", ":"), default=str)
        return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"

    @property
    def evidence_digest(self) -> str:
        """Names the evidence alone: what a vote rests on beside the document."""
        return evidence_digest(self.evidence)


def gather(window: Window, now: datetime) -> Inputs:
    """Read the inputs of a window; the clock is the caller's."""
    document = document_of(window.digest)
    step = timedelta(seconds=document.gates.step_s)
    reached = watermark(window.product, now)
    end = _end(window, reached, step)
    start = _start(window, end, step)
    cost_end = min(end, window.closes_at) if window.closes_at else end
    cost_window = timedelta(milliseconds=document.gates.cost_per_success_usd.window_ms)
    cost_start = max(window.opens_at, cost_end - cost_window)
    rows = _rows(window, window.cohort, min(start, floor(cost_start, step)), end)
    evidence = scoring_evidence(window.product)
    known = completeness(window.product, min(start, cost_start), end, now)
    clock = Clock(
        now,
        reached,
        window.opens_at,
        end,
        _last_request(rows, step),
        _closed(window, end),
        known.silent,
        known.uncounted,
    )
    limits = limits_for(document.gates.step_s, document.gates.attainment.window_ms)
    return Inputs(
        document=document,
        observed=Observed(
            rows=[row for row in rows if row.step_at >= start],
            cost_rows=[row for row in rows if row.step_at >= floor(cost_start, step)],
            cost_seconds=_seconds(cost_end - cost_start),
            evidence=evidence,
        ),
        evidence=evidence,
        checks=check_all(clock, limits, _split(window, rows, start, end)),
        start=start,
        end=end,
        cost_start=cost_start,
        cost_end=max(cost_end, cost_start),
    )


def scoring_evidence(product: Product) -> list[Evidence]:
    """Evidence whose score can clear a floor, newest first."""
    found = Evidence.objects.filter(product=product, kind__in=SCORING_KINDS)
    return list(found.order_by("-created_at", "-id"))


def evidence_digest(evidence: list[Evidence]) -> str:
    """One digest over a set of evidence, in whatever order it was read."""
    text = "\n".join(sorted(item.digest for item in evidence))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def floor(at: datetime, step: timedelta) -> datetime:
    """The start of the rollup step that holds the moment."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return at - (at - epoch) % step


def _end(window: Window, reached: datetime | None, step: timedelta) -> datetime:
    """Whole steps up to the watermark; without one, as far as it was judged before."""
    opened = floor(window.opens_at, step)
    if reached is None:
        return window.judged_to or opened
    return max(floor(reached, step), window.judged_to or opened)


def _start(window: Window, end: datetime, step: timedelta) -> datetime:
    stretch = STRETCH_STEPS * step
    before = max(0, (end - window.opens_at) // stretch - 1)
    return floor(window.opens_at + before * stretch, step)


def _rows(window: Window, cohort: str, start: datetime, end: datetime) -> list[RollupRow]:
    return rollup_rows(window.product, window.digest, window.publication, cohort, start, end)


def _last_request(rows: list[RollupRow], step: timedelta) -> datetime | None:
    steps = [row.step_at for row in rows if row.counters.get("eligible")]
    return max(steps) + step if steps else None


def _closed(window: Window, end: datetime) -> bool:
    return window.closes_at is not None and end >= window.closes_at


def _split(window: Window, rows: list[RollupRow], start: datetime, end: datetime) -> Split | None:
    """The sample-ratio check of a canary; where one generation serves everything there is none."""
    if window.exposure >= 1:
        return None
    other = "incumbent" if window.cohort == "candidate" else "candidate"
    twin = Window.objects.filter(
        product=window.product, publication=window.publication, cohort=other
    ).first()
    beside = _rows(twin, other, start, end) if twin else []
    mine = _eligible([row for row in rows if row.step_at >= start])
    total = mine + _eligible(beside)
    return exposure.check(mine, total, window.exposure) if total else None


def _eligible(rows: list[RollupRow]) -> int:
    return sum(row.counters.get("eligible", 0) for row in rows)


def _seconds(span: timedelta) -> Decimal:
    """Exact seconds; a float would put noise into dollars."""
    whole = Decimal(span.days * 86_400 + span.seconds)
    return max(Decimal(0), whole + Decimal(span.microseconds) / 1_000_000)


def _spelled(inputs: Inputs) -> dict[str, object]:
    rows = {
        (r.step_at, tuple(sorted(r.dims.items())), r.route, r.manifest): r
        for r in (*inputs.observed.cost_rows, *inputs.observed.rows)
    }
    return {
        "bounds": [inputs.start, inputs.end, inputs.cost_start, inputs.cost_end],
        "checks": [(check.name, check.state) for check in inputs.checks],
        "evidence": sorted(item.digest for item in inputs.evidence),
        "rows": [
            [
                key,
                row.counters,
                row.histogram,
                row.within,
                row.judged,
                row.teu.normalize(),
                row.cost_usd.normalize(),
            ]
            for key, row in sorted(rows.items(), key=lambda pair: pair[0])
        ],
    }
