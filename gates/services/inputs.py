"""Everything that a judgement of a window rests on, gathered once and named by its digest."""

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from gates.models import Evidence, Window
from gates.states import SCORING_KINDS
from ingest.selectors import completeness, counted, last_request_at, watermark
from orchid.engine.document.model import PolicyDocument
from orchid.engine.verdict import exposure
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.evidence import Book, Item
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
    rows = _counted(window, window.cohort, start, end)
    evidence = scoring_evidence(window.product)
    known = completeness(window.product, min(start, cost_start), end, now)
    clock = Clock(
        now,
        reached,
        window.opens_at,
        end,
        _last_request(window, start, end, step),
        _closed(window, end),
        known.silent,
        known.uncounted,
    )
    limits = limits_for(document.gates.step_s, document.gates.attainment.window_ms)
    return Inputs(
        document=document,
        observed=Observed(
            counted=rows,
            cost=_counted(window, window.cohort, floor(cost_start, step), end),
            cost_seconds=_seconds(cost_end - cost_start),
            book=book_of(document, evidence, end),
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


def book_of(document: PolicyDocument, evidence: list[Evidence], at: datetime) -> Book:
    """The evidence as it stands for the document at a moment."""
    return Book((_item(one) for one in evidence), document, at)


def _item(one: Evidence) -> Item:
    return Item(
        digest=one.digest,
        kind=one.kind,
        suite=one.suite,
        suite_version=one.suite_version,
        route=one.route,
        manifest=one.manifest,
        where=one.where,
        n=one.n,
        mean=one.mean,
        spread=one.spread,
        violations=one.violations,
        measured_at=one.created_at,
        push=one.pk,
    )


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


def _counted(window: Window, cohort: str, start: datetime, end: datetime) -> Counted:
    return counted(window.product, window.digest, window.publication, cohort, start, end)


def _last_request(
    window: Window, start: datetime, end: datetime, step: timedelta
) -> datetime | None:
    stream = (window.product, window.digest, window.publication, window.cohort)
    last = last_request_at(*stream, start, end)
    return last + step if last else None


def _closed(window: Window, end: datetime) -> bool:
    return window.closes_at is not None and end >= window.closes_at


def _split(window: Window, mine: Counted, start: datetime, end: datetime) -> Split | None:
    """The sample-ratio check of a canary; where one generation serves everything there is none."""
    if window.exposure >= 1:
        return None
    other = "incumbent" if window.cohort == "candidate" else "candidate"
    twin = Window.objects.filter(
        product=window.product, publication=window.publication, cohort=other
    ).first()
    beside = _counted(twin, other, start, end).total("eligible") if twin else 0
    seen = mine.total("eligible")
    total = seen + beside
    return exposure.check(seen, total, window.exposure) if total else None


def _seconds(span: timedelta) -> Decimal:
    """Exact seconds; a float would put noise into dollars."""
    whole = Decimal(span.days * 86_400 + span.seconds)
    return max(Decimal(0), whole + Decimal(span.microseconds) / 1_000_000)


def _spelled(inputs: Inputs) -> dict[str, object]:
    parts = (inputs.observed.counted, inputs.observed.cost)
    return {
        "bounds": [inputs.start, inputs.end, inputs.cost_start, inputs.cost_end],
        "checks": [(check.name, check.state) for check in inputs.checks],
        "evidence": sorted(item.digest for item in inputs.evidence),
        "counted": [hashlib.sha256(b"".join(one.digest_parts())).hexdigest() for one in parts],
    }
