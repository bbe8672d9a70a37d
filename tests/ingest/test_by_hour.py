"""The hours of the books hold what was counted, before it is merged, after, and as hours."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from ingest.models import RollupHour, RollupStep
from ingest.selectors import counted_by_hour, tenants_in_time
from ingest.services.compaction import compact
from ingest.services.rollups import Placed, append, placed_cell, placed_tenant
from ingest.states import RollupBy
from orchid.engine.rollup import RollupKey, Sums, TenantKey
from policies.models import Product

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
#: Minutes after nine, in three hours and of two publications.
MINUTES = (0, 1, 59, 60, 61, 150)


@pytest.fixture
def nine() -> datetime:
    day = datetime.now(UTC) - timedelta(days=1)
    return day.replace(hour=9, minute=0, second=0, microsecond=0)


@pytest.fixture
def counted(product: Product, digest: str, nine: datetime) -> dict[datetime, int]:
    """Requests by hour, as they were appended."""
    expected: dict[datetime, int] = defaultdict(int)
    for number, minute in enumerate(MINUTES):
        at, requests = nine + timedelta(minutes=minute), 10 + number
        sums = Sums(records=requests)
        sums.counters["eligible"] = requests
        sums.observe("work_teu", 2.5 * requests)
        sums.add_usd(Decimal("0.01"))
        stream = (at, 1 + number % 2, digest, "incumbent")
        cell = placed_cell(RollupKey(*stream, (("task", "t"),), "full", "sha256:m"))
        placed: dict[Placed, Sums] = {cell: sums}
        placed[placed_tenant(TenantKey(*stream, "acme"))] = sums
        append(product, number, placed)
        expected[at.replace(minute=0)] += requests
    return expected


def by_hour(product: Product, nine: datetime, by: RollupBy) -> dict[datetime, int]:
    found: dict[datetime, int] = defaultdict(int)
    for stream in counted_by_hour(product, nine, nine + 4 * HOUR):
        if stream.by == by:
            assert stream.whole.total("eligible") == sum(
                cell.sums.counters["eligible"] for cell in stream.hours
            )
            for cell in stream.hours:
                found[cell.at] += cell.sums.counters["eligible"]
    return found


def test_hours_are_the_same_however_they_are_stored(
    product: Product, nine: datetime, counted: dict[datetime, int]
) -> None:
    for by in (RollupBy.CELL, RollupBy.TENANT):
        assert by_hour(product, nine, by) == counted
    while compact(nine + 5 * HOUR):
        pass
    assert RollupHour.objects.exists()
    for by in (RollupBy.CELL, RollupBy.TENANT):
        assert by_hour(product, nine, by) == counted
    RollupHour.objects.update(stands_alone=True)
    RollupStep.objects.all().delete()
    assert by_hour(product, nine, RollupBy.CELL) == counted


def test_a_stretch_without_requests_reads_no_stream(
    product: Product, nine: datetime, counted: dict[datetime, int]
) -> None:
    assert counted_by_hour(product, nine - 2 * HOUR, nine) == []


def test_a_tenant_has_what_it_used_in_each_stretch(
    product: Product, nine: datetime, counted: dict[datetime, int]
) -> None:
    found = tenants_in_time(product, nine, nine + 4 * HOUR, timedelta(days=1))
    assert {cell.name.tenant for cell in found} == {"acme"}
    assert sum(cell.sums.counters["eligible"] for cell in found) == sum(counted.values())
    assert sum(cell.sums.cost_usd for cell in found) == Decimal("0.06")
    assert sum(cell.sums.figures["work_teu"].total for cell in found) == 2_500_000 * sum(
        counted.values()
    )
