"""What a day of rollups weighs: an hour of a canary at 325 requests/s, stored and scaled.

Real tables with their indexes, filled by the services that workers call: 24 batches a minute from
two edges, one in fifty a step late, deltas merged by the compactor as it goes, hours folded. The
requests are drawn, not parsed: 200 segments by Zipf's law, three routes, 5 % in a candidate, 500
tenants of which the 50 first keep a row of their own. Steps and hours grow with the day and are
scaled from the simulated hour; deltas are a working set and are taken as they are.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import product as combinations
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from benchmarks.ingest.database import database
from benchmarks.line import Against, Line

if TYPE_CHECKING:
    from orchid.engine.rollup import Sums
    from policies.models import Product

DOCUMENT = Path(__file__).parents[2] / "examples/orchid-demo/generation-1.yaml"

REQUESTS_PER_S = 325
SEGMENTS = 200
TENANTS = 500
BATCH_S = 5
EDGES = 2
LATE = 0.02
CANDIDATE = 0.05
GOAL_MB = 300
MB = 1e6
_STEPS, _HOURS = "ingest_rollup_step", "ingest_rolluphour"
_AS_IT_IS = (
    "ingest_rollupdelta",
    "ingest_rollupstream",
    "ingest_rollupcell",
    "ingest_dimensionvalue",
)
_BOUNDS = ("completion<=1500", "completion<=1600", "first_token<=400", "inter_token<=120")


@dataclass(frozen=True)
class Kind:
    """What one in many requests is like: where it is counted and how fast it is served."""

    dims: tuple[tuple[str, str], ...]
    route: str
    manifest: str
    median_ms: float


def run(smoke: bool) -> Iterable[Line]:
    """The megabytes of a day, against the bound."""
    minutes = 2 if smoke else 60
    with database():
        stored = _store(minutes)
        yield _line(stored, minutes)


def _line(stored: dict[str, int], minutes: int) -> Line:
    scale = 24 * 60 / minutes
    day = stored[_STEPS] * scale + stored[_HOURS] * 24 + sum(stored[name] for name in _AS_IT_IS)
    parts = ", ".join(f"{name} {stored[name] / MB:.2f} MB" for name in stored)
    return Line(
        "a day of rollups, 28 million requests in 200 segments",
        day / MB,
        "MB",
        Against("bound", GOAL_MB),
        "<= 1",
        note=f"{minutes} minutes simulated; steps x {scale:g}, hours x 24; as stored: {parts}",
    )


def _store(minutes: int) -> dict[str, int]:
    from django.db import connection
    from django.utils import timezone

    from ingest.services.compaction import compact

    dice = random.Random(7)  # noqa: S311  # traffic, not secrets
    start = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=3)
    append = _appender(_kinds(dice), dice)
    late: list[datetime] = []
    for minute in range(minutes):
        now = start + timedelta(minutes=minute)
        for arrived_at in _batches(now):
            if dice.random() < LATE:
                late.append(arrived_at)
            else:
                append(arrived_at)
        compact(now + timedelta(seconds=31))
        if minute % 2:
            while late:
                append(late.pop())
    compact(start + timedelta(hours=2))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE ingest_rollupdelta")
    return {name: _size(name) for name in (_STEPS, _HOURS, *_AS_IT_IS)}


def _batches(minute: datetime) -> Iterator[datetime]:
    for second in range(0, 60, BATCH_S):
        yield from [minute + timedelta(seconds=second)] * EDGES


def _kinds(dice: random.Random) -> list[Kind]:
    tasks = [f"task_{number}" for number in range(10)]
    places = [("standard", "eu"), ("standard", "us"), ("premium", "eu"), ("premium", "us")]
    lengths = ("0-512", "513-2048", "2049-8192", "8193-32768", "32769+")
    kinds = []
    for task, (tier, region), length in combinations(tasks, places, lengths):
        dims = (
            ("input_bucket", length),
            ("region", region),
            ("task", task),
            ("tenant_class", tier),
        )
        kinds.append((dims, dice.uniform(250, 1100)))
    dice.shuffle(kinds)
    routes = (("full", 1.0), ("compact", 0.5), ("premium", 1.4))
    return [
        Kind(dims, route, f"sha256:{route * 16}"[:71], median * factor)
        for dims, median in kinds[:SEGMENTS]
        for route, factor in routes
    ]


def _appender(kinds: list[Kind], dice: random.Random) -> Callable[[datetime], None]:
    """A function that draws one batch and hands it to the product's own service."""
    from ingest.models import Batch, Source
    from ingest.services.rollups import append_deltas
    from orchid.engine.rollup import RollupKey, Sums, TenantKey, step_of

    product = _product()
    edge = Source.objects.create(product=product, kind="edge", name="edge-1")
    of_segment = [1 / (1 + number // 3) for number in range(len(kinds))]
    weights = [w * (0.6, 0.3, 0.1)[n % 3] for n, w in enumerate(of_segment)]
    tenants = [1 / (1 + number) for number in range(TENANTS)]
    digest = str(product.generations.get(number=1).revisions.get().digest)

    def append(arrived_at: datetime) -> None:
        size = REQUESTS_PER_S * BATCH_S // EDGES
        sums: dict[RollupKey, Sums] = {}
        by_tenant: dict[TenantKey, Sums] = {}
        whose = dice.choices(range(TENANTS), tenants, k=size)
        for kind, tenant in zip(dice.choices(kinds, weights, k=size), whose, strict=True):
            cohort = "candidate" if dice.random() < CANDIDATE else "incumbent"
            stream = (step_of(arrived_at, 60), 7, digest, cohort)
            key = RollupKey(*stream, kind.dims, kind.route, kind.manifest)
            name = f"tenant-{tenant}" if tenant < TENANTS // 10 else "other"
            one = _one(kind, dice)
            sums.setdefault(key, Sums()).merge(one)
            by_tenant.setdefault(TenantKey(*stream, name), Sums()).merge(one)
        batch = Batch.objects.create(
            product=product,
            source=edge,
            batch_id=f"batch-{Batch.objects.count()}",
            kind="edge",
            body=b"",
            size=0,
            sha256="",
        )
        append_deltas(product, batch, sums, by_tenant)

    return append


def _one(kind: Kind, dice: random.Random) -> "Sums":
    """One request: mostly a success, at times late, failed, rejected or called off."""
    from orchid.engine.histogram import OVERFLOW, bucket_of
    from orchid.engine.rollup import Sums

    sums = Sums(records=1)
    sums.counters.update(("offered", "eligible"))
    if dice.random() < 0.02:
        sums.counters.update(("rejected",))
        return sums
    ms = kind.median_ms * dice.lognormvariate(0, 0.35)
    failed = dice.random() < 0.005
    sums.counters.update(("admitted", "latency_counted", "inter_token_counted"))
    sums.histogram[OVERFLOW if failed else bucket_of(ms)] += 1
    sums.judged.update(_BOUNDS)
    if kind.route == "compact":
        sums.counters.update(("fallback",))
    if failed:
        sums.counters.update(("failed",))
    else:
        sums.counters.update(("completed", "policy_valid", "safely_served"))
        sums.counters.update(("deadline_valid", "technical_success") if ms < 2000 else ())
        kept = (ms <= 1500, ms <= 1600, ms * 0.2 <= 400, ms * 0.05 <= 120)
        sums.within.update(name for name, held in zip(_BOUNDS, kept, strict=True) if held)
    _figures(sums, ms, dice)
    return sums


def _figures(sums: "Sums", ms: float, dice: random.Random) -> None:
    tokens = dice.randrange(50, 4000)
    teu = Decimal(tokens) + Decimal(dice.randrange(1000)) / 1000
    sums.add_teu(teu)
    sums.add_usd(Decimal(dice.randrange(10**6)) / 10**9)
    values = {
        "first_token_ms": ms * 0.2,
        "queue_ms": ms * 0.1 * dice.random(),
        "max_gap_ms": ms * 0.05,
        "transfer_bytes": tokens * 4,
        "live_token_ms": tokens * ms,
        "cancel_to_release_ms": 12.5 if dice.random() < 0.01 else None,
        "preemptions": 0,
        "input_tokens": tokens,
        "cached_input_tokens": tokens // 3,
        "output_tokens": dice.randrange(20, 400),
        "teu_predicted": teu,
        "teu_observed": teu * Decimal("0.97"),
    }
    for name, value in values.items():
        sums.observe(name, value)


def _product() -> "Product":
    """The demo's product with both of its generations, without a route into it."""
    from accounts.guard import SYSTEM_ACTOR
    from policies.services import create_product

    given = yaml.safe_load(DOCUMENT.read_text())
    given["gates"]["step_s"] = 60
    return create_product(SYSTEM_ACTOR, "orchid-demo", "Demo", document=given)


def _size(name: str) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce(sum(pg_total_relation_size(relid)), pg_total_relation_size(%s))"
            " FROM pg_partition_tree(%s)",
            [name, name],
        )
        return int(cursor.fetchone()[0])
