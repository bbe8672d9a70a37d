"""Rehearsals of a rollback: how each stands, by what its edges answered."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from controlplane.errors import NotFound
from policies.models import Product
from releases.models import Drill, DrillAnswer
from releases.states import DrillAnswerState, DrillState

SHOWN = 10


@dataclass(frozen=True)
class DrillLine:
    """One asked edge: `after_ms` is from the start of the drill to its answer."""

    edge: str
    answer: DrillAnswer | None
    after_ms: float | None

    @property
    def words(self) -> str:
        if self.answer is None:
            return "No answer"
        return self.answer.reason or DrillAnswerState(self.answer.state).label

    @property
    def badge(self) -> str:
        """The class of the badge that shows what it answered."""
        if self.answer is None:
            return "badge badge--no-data"
        is_ready = self.answer.state == DrillAnswerState.READY
        return "badge badge--pass" if is_ready else "badge badge--fail"

    @property
    def label(self) -> str:
        return self.answer.state if self.answer else "silent"


@dataclass(frozen=True)
class DrillFact:
    """A rehearsal with its answers, as of a moment."""

    drill: Drill
    lines: list[DrillLine]
    now: datetime

    @property
    def at(self) -> datetime:
        return self.drill.started_at

    @property
    def digest(self) -> str:
        """What it would have restored."""
        return self.drill.digest

    @property
    def refused(self) -> list[DrillLine]:
        found = (line for line in self.lines if line.answer is not None)
        return [line for line in found if line.label == DrillAnswerState.REFUSED]

    @property
    def unanswered(self) -> list[DrillLine]:
        return [line for line in self.lines if line.answer is None]

    @property
    def state(self) -> DrillState:
        """Failed as soon as one edge refuses; passed once every asked edge could."""
        if self.refused:
            return DrillState.FAILED
        if not self.unanswered:
            return DrillState.PASSED
        over = self.now >= self.drill.deadline_at
        return DrillState.INCOMPLETE if over else DrillState.RUNNING

    @property
    def passed(self) -> bool:
        return self.state == DrillState.PASSED

    @property
    def took_ms(self) -> float | None:
        """From the click to the last edge that could have activated it; None unless all could."""
        if not self.passed:
            return None
        return max(
            (line.after_ms for line in self.lines if line.after_ms is not None), default=None
        )

    @property
    def silent(self) -> list[str]:
        """Edges that were silent when it began, and so were not asked."""
        return list(self.drill.silent)


def last_drill(product: Product, now: datetime | None = None) -> DrillFact | None:
    """The newest rehearsal of a product."""
    found = drills(product).first()
    return drill_fact(found, now) if found else None


def drill_of(product: Product, pk: int, now: datetime | None = None) -> DrillFact:
    """One rehearsal. Raises NotFound."""
    found = drills(product).filter(pk=pk).first()
    if found is None:
        raise NotFound("not_found", f"{product.slug} has no drill {pk}.")
    return drill_fact(found, now)


def recent_drills(product: Product, now: datetime | None = None) -> list[DrillFact]:
    """The last few, newest first."""
    return [drill_fact(row, now) for row in drills(product)[:SHOWN]]


def drill_fact(drill: Drill, now: datetime | None = None) -> DrillFact:
    """How a rehearsal stands at a moment."""
    answers = {row.edge.name: row for row in drill.answers.all()}
    lines = [_line(drill, name, answers.get(name)) for name in drill.asked]
    return DrillFact(drill, lines, now or timezone.now())


def drills(product: Product) -> QuerySet[Drill]:
    """Every rehearsal of a product with its answers."""
    rows = Drill.objects.filter(product=product).select_related("publication", "product")
    return rows.defer("token").prefetch_related("answers__edge")


def _line(drill: Drill, edge: str, answer: DrillAnswer | None) -> DrillLine:
    after = (answer.at - drill.started_at) / timedelta(milliseconds=1) if answer else None
    return DrillLine(edge, answer, after)
