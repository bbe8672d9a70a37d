"""Hours stand for steps that are no longer kept, and say the same of every whole hour."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection

from ingest.models import RollupHour, RollupStep, RollupStream
from ingest.selectors import rollup_rows
from ingest.services import partitions
from ingest.services.compaction import compact
from ingest.services.rollups import Placed, append, placed_cell
from orchid.engine.histogram import merge_all
from orchid.engine.rollup import RollupKey, Sums
from orchid.engine.verdict.design_effect import MINIMUM_BLOCKS
from policies.models import Product

pytestmark = pytest.mark.django_db


@pytest.fixture
def hour() -> datetime:
    """Two hours of a day far enough back that its steps may go."""
    day = datetime.now(UTC) - timedelta(days=40)
    return day.replace(hour=9, minute=0, second=0, microsecond=0)


@pytest.fixture
def counted(product: Product, digest: str, hour: datetime) -> None:
    """Two hours of traffic, ten requests a minute, of which one is late in every tenth minute."""
    for minute in range(120):
        key = RollupKey(
            hour + timedelta(minutes=minute), 1, digest, "incumbent", (("task", "a"),), "full", ""
        )
        sums = Sums(records=10)
        sums.counters.update({"eligible": 10, "latency_counted": 10})
        sums.histogram.update({700: 9, 900: 1})
        sums.judged["completion<=1500"], sums.within["completion<=1500"] = 10, 9 + minute % 2
        sums.observe("queue_ms", minute)
        placed: dict[Placed, Sums] = {placed_cell(key): sums}
        append(product, minute + 1, placed)
    compact(hour + timedelta(hours=3))


def _sum(rows: list[Any]) -> tuple[Any, ...]:
    return (
        sum(row.records for row in rows),
        sum(row.within["completion<=1500"] for row in rows),
        merge_all(row.histogram for row in rows),
        sum(row.figures["queue_ms"].total for row in rows if "queue_ms" in row.figures),
    )


def test_hours_say_what_their_steps_said(
    product: Product, digest: str, hour: datetime, counted: None
) -> None:
    window = (product, digest, 1, "incumbent", hour, hour + timedelta(hours=2))
    steps = rollup_rows(*window)
    assert (len(steps), RollupHour.objects.count()) == (120, 2)
    partitions.keep_days(datetime.now(UTC))
    assert not RollupStep.objects.exists()
    blocks = rollup_rows(*window)
    assert _sum(blocks) == _sum(steps)
    assert len(blocks) == 12 >= MINIMUM_BLOCKS


def test_an_hour_that_the_window_cuts_is_left_out(
    product: Product, digest: str, hour: datetime, counted: None
) -> None:
    partitions.keep_days(datetime.now(UTC))
    start, end = hour + timedelta(minutes=30), hour + timedelta(hours=2)
    rows = rollup_rows(product, digest, 1, "incumbent", start, end)
    assert sum(row.records for row in rows) == 600


def test_a_late_delta_finds_its_way_into_the_hour(
    product: Product, digest: str, hour: datetime, counted: None
) -> None:
    key = RollupKey(hour, 1, digest, "incumbent", (("task", "a"),), "full", "")
    append(product, 1000, {placed_cell(key): Sums(records=5)})
    partitions.keep_days(datetime.now(UTC))  # a day that still has deltas is not dropped
    assert RollupStep.objects.exists()
    compact(hour + timedelta(hours=3))
    partitions.keep_days(datetime.now(UTC))
    rows = rollup_rows(product, digest, 1, "incumbent", hour, hour + timedelta(hours=2))
    assert sum(row.records for row in rows) == 1205


def test_hours_go_when_their_own_time_is_over(
    product: Product, hour: datetime, counted: None
) -> None:
    partitions.keep_days(hour + partitions.HOUR_RETENTION + timedelta(days=1))
    assert not RollupHour.objects.exists()
    assert RollupStream.objects.exists()


def test_the_application_may_make_and_drop_days_of_rollups_alone(hour: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE orchid_app")
        partitions.ensure_rollup_days(partitions.STEPS, [hour.date()])
        cursor.execute(
            "SELECT ingest_drop_rollup_days_before(%s, %s)", [partitions.STEPS, hour.date()]
        )
        with pytest.raises(Exception, match="no table of days"):
            cursor.execute("SELECT ingest_drop_rollup_days_before('ingest_request', now()::date)")
