"""A gate over time: as many of its judgements as a picture takes, and what happened meanwhile.

A product has a hundred thousand judgements. Of each slice of the time asked for the last judgement
of what was live is looked up by index, so a picture costs the same however many there are; the
judgements at which a verdict changed are all there beside them, up to a bound that is told.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from django.db import connection

from gates.models import Evaluation, EvidencePush, Verdict, Window
from gates.states import Metric, VerdictState
from policies.models import Product

SPANS: Mapping[str, timedelta] = {
    "1h": timedelta(hours=1),
    "6h": timedelta(hours=6),
    "24h": timedelta(hours=24),
    "7d": timedelta(days=7),
    "30d": timedelta(days=30),
}
DEFAULT_SPAN = "6h"
#: Slices of a gate's picture and of a small trend.
SLICES, TREND_SLICES = 96, 24
TREND = timedelta(hours=1)
#: Changes and events that one picture shows, newest first.
MOST_MARKS = 60

#: The last judgement in each slice, of the newest window that was open in it.
_LAST_OF_SLICES = """
SELECT DISTINCT ON (slices.ends) judged.id
FROM (
    SELECT %(since)s + n * %(width)s AS opens, %(since)s + (n + 1) * %(width)s AS ends
    FROM generate_series(0, %(slices)s - 1) AS n
) AS slices
JOIN gates_window AS open ON open.product_id = %(product)s AND open.opens_at < slices.ends
    AND (open.closes_at IS NULL OR open.closes_at >= slices.opens)
CROSS JOIN LATERAL (
    SELECT one.id FROM gates_evaluation AS one
    WHERE one.window_id = open.id
        AND one.evaluated_at > slices.opens AND one.evaluated_at <= slices.ends
    ORDER BY one.evaluated_at DESC, one.id DESC LIMIT 1
) AS judged
ORDER BY slices.ends, open.opens_at DESC, open.publication DESC, open.cohort
"""


@dataclass(frozen=True)
class Period:
    """What is looked at: since < judged <= until."""

    since: datetime
    until: datetime

    @property
    def length(self) -> timedelta:
        return self.until - self.since

    @property
    def before(self) -> "Period":
        return Period(self.since - self.length, self.since)

    @property
    def after(self) -> "Period":
        return Period(self.until, self.until + self.length)


@dataclass(frozen=True)
class Point:
    """One judgement of the gate; `was` is the verdict that it replaced, where it changed."""

    row: Verdict
    was: str = ""

    @property
    def at(self) -> datetime:
        return self.row.evaluation.evaluated_at


@dataclass(frozen=True)
class History:
    """A gate in one scope, oldest first, with the windows that opened and the evidence that came.

    `cut` is true where there were more changes than are shown.
    """

    slug: str
    metric: Metric
    segment: str
    period: Period
    points: Sequence[Point]
    windows: Sequence[Window]
    pushes: Sequence[EvidencePush]
    cut: bool


def history_of(product: Product, metric: Metric, segment: str, period: Period) -> History:
    """The gate in the whole ("") or in one gated segment."""
    ids = last_of_slices(product, period, SLICES)
    changes = changed_in(product, period)
    rows = _rows({*ids, *changes}, metric, segment)
    return History(
        slug=product.slug,
        metric=metric,
        segment=segment,
        period=period,
        points=_points(rows),
        windows=_opened(product, period),
        pushes=_pushed(product, period),
        cut=len(changes) == MOST_MARKS,
    )


def trends(product: Product, until: datetime) -> dict[str, list[Verdict]]:
    """The last hour of every gate on the whole, oldest first, by metric."""
    ids = last_of_slices(product, Period(until - TREND, until), TREND_SLICES)
    found: dict[str, list[Verdict]] = {}
    for row in _rows(ids, None, ""):
        found.setdefault(row.metric, []).append(row)
    return found


def last_of_slices(product: Product, period: Period, slices: int) -> list[int]:
    """One judgement of each slice of time in which anything was judged."""
    asked: dict[str, Any] = {
        "since": period.since,
        "width": period.length / slices,
        "slices": slices,
        "product": product.pk,
    }
    with connection.cursor() as cursor:
        cursor.execute(_LAST_OF_SLICES, asked)
        return [pk for (pk,) in cursor.fetchall()]


def changed_in(product: Product, period: Period) -> list[int]:
    """The newest judgements at which any verdict changed."""
    found = Evaluation.objects.filter(
        window__in=_windows(product, period),
        changed=True,
        evaluated_at__gt=period.since,
        evaluated_at__lte=period.until,
    )
    newest = found.order_by("-evaluated_at", "-id").values_list("pk", flat=True)
    return list(newest[:MOST_MARKS])


def judged_at(product: Product, period: Period) -> dict[str, list[str]]:
    """By metric, where it was judged at the end of the period: the whole first."""
    ids = last_of_slices(product, period, 1)
    rows = Verdict.objects.filter(evaluation_id__in=ids).order_by("id")
    found: dict[str, list[str]] = {}
    for metric, segment in rows.values_list("metric", "segment"):
        found.setdefault(metric, []).append(segment)
    return {metric: sorted(names, key=bool) for metric, names in found.items()}


def _windows(product: Product, period: Period) -> list[int]:
    found = Window.objects.filter(product=product, opens_at__lt=period.until)
    still = found.filter(closes_at=None) | found.filter(closes_at__gte=period.since)
    return list(still.values_list("pk", flat=True))


def _rows(ids: Iterable[int], metric: Metric | None, segment: str) -> list[Verdict]:
    """A gate's rows, in order of time, with their windows and without what is large."""
    found = Verdict.objects.filter(evaluation_id__in=list(ids), segment=segment)
    if metric:
        found = found.filter(metric=metric)
    whole = found.select_related("evaluation__window").defer(
        "evaluation__figures", "evaluation__validity", "evaluation__reasons"
    )
    return list(whole.order_by("evaluation__evaluated_at", "evaluation_id"))


def _points(rows: Sequence[Verdict]) -> list[Point]:
    """Each with the verdict that it replaced in its own window; the first replaces none."""
    replaced: dict[int, str] = {}
    by_window: dict[int, list[Verdict]] = {}
    for row in rows:
        by_window.setdefault(row.evaluation.window_id, []).append(row)
    for mine in by_window.values():
        for before, row in pairwise(mine):
            if before.verdict != row.verdict:
                replaced[row.pk] = before.verdict
    return [Point(row, replaced.get(row.pk, "")) for row in rows]


def _opened(product: Product, period: Period) -> list[Window]:
    found = Window.objects.filter(
        product=product, opens_at__gt=period.since, opens_at__lte=period.until
    )
    return list(found.order_by("-opens_at", "-id")[:MOST_MARKS])


def _pushed(product: Product, period: Period) -> list[EvidencePush]:
    found = EvidencePush.objects.filter(
        product=product, created_at__gt=period.since, created_at__lte=period.until
    )
    return list(found.order_by("-created_at", "-id")[:MOST_MARKS])


def verdict_words(verdict: str) -> str:
    """As pages say it."""
    return str(VerdictState(verdict).label).lower()
