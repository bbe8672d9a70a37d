"""Generations as points of the frontier, from what was counted while they were judged."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from gates.models import Window
from gates.selectors.evidence import book_for
from gates.selectors.verdicts import figures_in, judged_with_traffic
from ingest.selectors import counted
from orchid.engine.frontier import Point
from orchid.engine.measured_point import Seen, point_of
from orchid.engine.segments import Where
from orchid.engine.verdict.counted import Counted
from orchid.engine.verdict.traffic import Coverage
from policies.models import Product
from policies.selectors import document_of, revision_by_digest

#: Generations that a picture can tell apart, the newest first.
SHOWN = 8


@dataclass(frozen=True)
class Measured:
    """One generation's newest judged window with traffic, and everything counted in it."""

    name: str
    window: Window
    stored: Point
    seen: Seen

    def point(self, where: Where) -> Point | None:
        """The part of its traffic that the selector takes; None where it had none.

        The whole of a window whose counts are past retention is what was judged of it.
        """
        found = point_of(self.name, self.seen, where)
        return self.stored if found is None and not where else found


def measured(product: Product) -> list[Measured]:
    """The generations that had traffic, newest first."""
    digests = Window.objects.filter(product=product).order_by("-opens_at", "-id")
    found = []
    for digest in list(dict.fromkeys(digests.values_list("digest", flat=True)))[:SHOWN]:
        judged = judged_with_traffic(product, digest)
        if judged is None:
            continue
        window, evaluation = judged
        name = f"Generation {revision_by_digest(product, digest).generation.number}"
        known = figures_in(window, evaluation)
        stored = Point(
            name,
            known.utility,
            known.p95_ms,
            known.cost_per_success_usd,
            "measured",
            attainment=known.attainment,
            success_per_s=known.success_per_s,
        )
        found.append(Measured(name, window, stored, seen_of(window, evaluation.figures)))
    return found


def seen_of(window: Window, figures: Mapping[str, Any]) -> Seen:
    """Read once more what a judgement counted, by the times in its figures."""
    document, spent = document_of(window.digest), figures["cost"]
    start, end, money_from, money_to = (
        datetime.fromisoformat(part[name]) for part in (figures, spent) for name in ("from", "to")
    )
    seen = _counted(window, start, end)
    step = timedelta(seconds=document.gates.step_s)
    return Seen(
        document=document,
        counted=seen,
        cost=_counted(window, _floor(money_from, step), money_to),
        cost_seconds=Decimal(spent["seconds"]),
        coverage=Coverage(document, seen, book_for(window.product, document, end)),
    )


def _counted(window: Window, start: datetime, end: datetime) -> Counted:
    place = window.digest, window.publication, window.cohort
    return counted(window.product, *place, start, end)


def _floor(at: datetime, step: timedelta) -> datetime:
    return at - (at - datetime(1970, 1, 1, tzinfo=UTC)) % step
