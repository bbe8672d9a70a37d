"""What it costs to judge 24 hours of 200 segments by five gates, and what that depends on.

The traffic of a day is drawn and handed to the services that workers call: deltas are appended,
merged by the compactor, and folded. Then a minute after the other is added, and each time the whole
of an evaluation is timed: reading, judging and storing 1,005 results and their case.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import yaml

from benchmarks.ingest.database import database
from benchmarks.line import Against, Line
from benchmarks.rounds import Series, seconds

if TYPE_CHECKING:
    from gates.models import Window
    from orchid.engine.rollup import Sums

DOCUMENT = Path(__file__).parents[2] / "examples/orchid-demo/generation-1.yaml"
GOAL_MS = 300.0
MINUTE = timedelta(minutes=1)
_BOUND = "completion<=1500"
#: So many different minutes are drawn; a day goes round them.
_KINDS = 12


def run(smoke: bool) -> Iterable[Line]:
    """An evaluation over 1, 10 and 100 million requests."""
    minutes, segments = (90, 8) if smoke else (24 * 60, 200)
    sizes = (20_000, 200_000) if smoke else (1_000_000, 10_000_000, 100_000_000)
    with database():
        found = {size: _measured(size, minutes, segments, 2 if smoke else 9) for size in sizes}
    for size, (series, note) in found.items():
        yield Line(
            f"evaluating {minutes / 60:g} h x {segments} segments x 5 gates, {size:,} requests",
            series.median * 1e3,
            "ms",
            Against("bound", GOAL_MS),
            "<= 1",
            series.spread,
            note,
        )
    few, many = min(found), max(found)
    yield Line(
        "the same over a hundred times the requests"
        if not smoke
        else "over ten times the requests",
        found[many][0].median * 1e3,
        "ms",
        Against(f"{few:,} requests", found[few][0].median * 1e3),
        "<= 1.5",
    )


def _measured(size: int, minutes: int, segments: int, rounds: int) -> tuple[Series, str]:
    day = _Day(size, minutes, segments)
    window = day.opened()
    # The detector goes on by an hour at most in one evaluation.
    for _ in range(2 + minutes // 60):
        day.judge(window)
    figures = []
    for _ in range(rounds):
        day.go_on()
        figures.append(seconds(lambda: day.judge(window))())
    results = day.judge(window).verdicts.count()
    return Series(tuple(figures)), f"{results:,} results"


class _Day:
    """A product with a day of counted traffic, which goes on minute by minute."""

    def __init__(self, size: int, minutes: int, segments: int) -> None:
        from django.utils import timezone

        from ingest.models import Source
        from orchid.engine.document.canonical import manifest_digest
        from policies.selectors import document_of

        self.product = _product(f"orchid-{size}", segments)
        self.digest = str(self.product.generations.get(number=1).revisions.get().digest)
        self.manifest = manifest_digest(document_of(self.digest).models["full"])
        self.edge = Source.objects.create(product=self.product, kind="edge", name="edge-1")
        self.kinds = list(_drawn(size / minutes / segments, segments))
        self.now = timezone.now().replace(second=0, microsecond=0) - timedelta(hours=1)
        self.start = self.now - minutes * MINUTE
        self.batches = 0
        for minute in range(minutes):
            self.count(self.start + minute * MINUTE)
            if minute % 60 == 59:
                self.merge(self.start + (minute + 1) * MINUTE)

    def opened(self) -> "Window":
        """A stage that has been watched since the day began."""
        from accounts.guard import SYSTEM_ACTOR
        from gates.services import open_window, push_evidence

        cell = {
            "schema": "orchid.evidence/v1",
            "kind": "frozen_suite",
            "suite": "tasks",
            "suite_version": "1",
            "route": "full",
            "manifest": self.manifest,
            "where": {},
            "n": 20_000,
            "mean": 0.93,
            "spread": 0.1,
        }
        push_evidence(SYSTEM_ACTOR, self.product, cell)
        self.tell()
        return open_window(self.product, self.digest, 1, "candidate", self.start, 1.0)

    def judge(self, window: "Window") -> Any:
        from gates.services import evaluate

        return evaluate(window.pk, self.now)

    def go_on(self) -> None:
        """One more minute was counted."""
        self.count(self.now)
        self.now += MINUTE
        self.merge(self.now)
        self.tell()

    def count(self, step_at: datetime) -> None:
        """What the deltas of a minute add up to."""
        from ingest.services.rollups import append, placed_cell
        from orchid.engine.rollup import RollupKey

        self.batches += 1
        kind = self.kinds[self.batches % len(self.kinds)]
        placed = {}
        for segment, sums in enumerate(kind):
            dims = (("task", f"t{segment}"),)
            key = RollupKey(step_at, 1, self.digest, "candidate", dims, "full", self.manifest)
            placed[placed_cell(key)] = sums
        append(self.product, self.batches, placed)

    def merge(self, now: datetime) -> None:
        from ingest.services.compaction import compact

        while compact(now + timedelta(seconds=31)):
            pass

    def tell(self) -> None:
        """The edge says that everything up to now has been sent."""
        self.edge.watermark = self.edge.last_seen_at = self.now
        self.edge.save()


def _product(slug: str, segments: int) -> Any:
    from accounts.guard import SYSTEM_ACTOR
    from policies.services import create_product

    given = yaml.safe_load(DOCUMENT.read_text())
    given["gates"] |= {
        "step_s": 60,
        "segments": [
            {"name": f"s{n}", "where": {"task": f"t{n}"}, "minimum_sample": 200}
            for n in range(segments)
        ],
    }
    return create_product(SYSTEM_ACTOR, slug, slug, document=given | {"product": slug})


def _drawn(mean: float, segments: int) -> Iterator[list["Sums"]]:
    """Minutes of every segment: log-normal times, two in a hundred requests without success."""
    dice = np.random.default_rng(7)
    median = dice.uniform(250, 700, segments)
    draw = _drawer(dice)
    for _ in range(_KINDS):
        yield [
            draw(int(count), ms)
            for count, ms in zip(dice.poisson(mean, segments), median, strict=True)
        ]


def _drawer(dice: np.random.Generator) -> Callable[[int, float], "Sums"]:
    from collections import Counter
    from decimal import Decimal

    from orchid.engine.histogram import buckets_of
    from orchid.engine.rollup import Figure, Sums

    def draw(count: int, median_ms: float) -> Sums:
        times = median_ms * dice.lognormal(0, 0.35, count)
        bucket, held = np.unique(buckets_of(times), return_counts=True)
        good = int(dice.binomial(count, 0.985))
        alike = ("offered", "eligible", "admitted", "completed", "latency_counted", "policy_valid")
        return Sums(
            Counter(dict.fromkeys(alike, count) | {"technical_success": good}),
            Counter(dict(zip(bucket.tolist(), held.tolist(), strict=True))),
            Counter({_BOUND: int((times <= 1500).sum())}),
            Counter({_BOUND: count}),
            {"queue_ms": Figure(count, count * 20_000, 90_000)} if count else {},
            Decimal(count * 300),
            Decimal(0),
            count,
        )

    return draw
