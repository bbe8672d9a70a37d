"""What gates read of a window is the same to the byte, whichever way it is stored just then."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connections, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.models import RollupDelta, RollupHour, RollupStep
from ingest.selectors import counted, counted_by_tenant, last_request_at, rollup_rows, steps
from ingest.services import partitions
from ingest.services.compaction import compact
from ingest.services.rollups import Placed, append, placed_cell, placed_tenant
from orchid.engine.histogram import OVERFLOW
from orchid.engine.rollup import RollupKey, Sums, TenantKey
from orchid.engine.verdict.counted import Counted
from policies.models import Product

pytestmark = pytest.mark.django_db

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)
#: Of the demo's document.
STEP = timedelta(seconds=5)


@pytest.fixture
def nine() -> datetime:
    """An hour of a day far enough back that its steps may go."""
    day = datetime.now(UTC) - timedelta(days=40)
    return day.replace(hour=9, minute=0, second=0, microsecond=0)


@pytest.fixture
def read(product: Product, digest: str, nine: datetime) -> Callable[..., Counted]:
    """Hours 9 to 13, or so many minutes of them, after so many."""

    def window(since: int = 0, minutes: int = 240) -> Counted:
        start = nine + since * MINUTE
        return counted(product, digest, 1, "incumbent", start, start + minutes * MINUTE)

    return window


class Counting:
    """Appends one delta after the other, each with many cells of one step, as batches do."""

    def __init__(self, product: Product, digest: str, nine: datetime, seed: int = 1) -> None:
        self.product, self.digest, self.nine = product, digest, nine
        self.dice = random.Random(seed)
        self.batches = 0

    def add(self, minute: int, cells: int = 3) -> None:
        at = self.nine + minute * MINUTE
        placed: dict[Placed, Sums] = dict(self._cell(at, cell) for cell in range(cells))
        tenant = TenantKey(at, 1, self.digest, "incumbent", "acme")
        placed[placed_tenant(tenant)] = Sums(records=cells)
        self.batches += 1
        append(self.product, self.batches, placed)

    def _cell(self, at: datetime, cell: int) -> tuple[Placed, Sums]:
        dice, dims = self.dice, (("task", f"t{cell}"),)
        route = dice.choice(["full", "compact"])
        sums = Sums(records=dice.randrange(1, 300))
        sums.counters.update({"eligible": sums.records, "technical_success": sums.records - 1})
        sums.histogram.update({dice.randrange(700, 720): 3, OVERFLOW: dice.randrange(2)})
        sums.judged["completion<=1500"] = sums.records
        sums.within["completion<=1500"] = dice.randrange(sums.records)
        sums.observe("queue_ms", dice.randrange(90))
        return placed_cell(
            RollupKey(at, 1, self.digest, "incumbent", dims, route, "sha256:m")
        ), sums


@pytest.fixture
def traffic(product: Product, digest: str, nine: datetime) -> Counting:
    return Counting(product, digest, nine)


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 2**30), st.lists(st.integers(0, 239), min_size=1, max_size=25))
def test_a_window_reads_the_same_however_it_is_stored(
    product: Product,
    digest: str,
    nine: datetime,
    read: Callable[..., Counted],
    seed: int,
    minutes: list[int],
) -> None:
    with transaction.atomic():
        traffic = Counting(product, digest, nine, seed)
        for minute in minutes:
            traffic.add(minute, cells=traffic.dice.choice([1, 4, 70]))
        windows = [(0, 240), (0, 120), (60, 180), (17, 200), (55, 20)]
        deltas = [read(*window).encoded() for window in windows]
        compact(nine + 70 * MINUTE)  # some steps are merged, and perhaps an hour is folded
        assert [read(*window).encoded() for window in windows] == deltas
        compact(nine + 5 * HOUR)
        assert not RollupDelta.objects.exists()
        assert RollupHour.objects.exists()
        assert [read(*window).encoded() for window in windows] == deltas
        partitions.keep_days(datetime.now(UTC))
        assert not RollupStep.objects.exists()
        assert [read(*window).encoded() for window in windows[:3]] == deltas[:3]
        transaction.set_rollback(True)


def test_a_late_delta_counts_before_and_after_its_hour_is_folded_anew(
    traffic: Counting, read: Callable[..., Counted], nine: datetime
) -> None:
    for minute in range(0, 240, 9):
        traffic.add(minute)
    compact(nine + 5 * HOUR)
    before = read().columns.records.sum()
    traffic.add(30, cells=1)
    late = read()
    assert late.columns.records.sum() > before
    compact(nine + 5 * HOUR)
    assert read().encoded() == late.encoded()


def test_an_hour_is_folded_anew_even_when_the_clock_was_set_back(
    traffic: Counting, read: Callable[..., Counted], nine: datetime
) -> None:
    traffic.add(10)
    compact(nine + 2 * HOUR)
    traffic.add(10)
    expected = read().encoded()
    compact(nine + 50 * MINUTE)
    assert not RollupDelta.objects.exists()
    assert read().encoded() == expected


@pytest.mark.django_db(transaction=True)
def test_a_reader_between_sees_no_half_of_a_compaction(
    traffic: Counting, read: Callable[..., Counted], nine: datetime
) -> None:
    for minute in range(0, 240, 7):
        traffic.add(minute)
    compact(nine + 5 * HOUR)
    traffic.add(61)
    traffic.add(199)
    expected = read().encoded()
    other = connections.create_connection("default")
    mine = connections["default"]
    try:
        with transaction.atomic():
            compact(nine + 5 * HOUR)
            connections["default"] = other
            assert read().encoded() == expected
            connections["default"] = mine
    finally:
        connections["default"] = mine
        other.close()
    assert not RollupDelta.objects.exists()
    assert read().encoded() == expected


def test_a_long_window_is_read_by_hours_and_a_series_never(
    traffic: Counting, read: Callable[..., Counted], product: Product, digest: str, nine: datetime
) -> None:
    for minute in range(240):
        traffic.add(minute, cells=1)
    compact(nine + 5 * HOUR)
    RollupStep.objects.update(sheet=b"\x01")  # unreadable: whoever reads a step fails
    assert read().total("eligible") > 0
    with pytest.raises(Exception, match="incomplete"):
        steps(product, digest, 1, "incumbent", nine, nine + 4 * HOUR)


def test_it_says_what_rows_say(
    traffic: Counting, read: Callable[..., Counted], product: Product, digest: str, nine: datetime
) -> None:
    for minute in range(0, 240, 5):
        traffic.add(minute)
    compact(nine + 100 * MINUTE)
    window = (nine, nine + 4 * HOUR)
    rows = rollup_rows(product, digest, 1, "incumbent", *window)
    assert Counted.of_rows(rows, *window, STEP).encoded() == read().encoded()


def test_tenants_are_told_by_their_names(
    traffic: Counting, product: Product, digest: str, nine: datetime
) -> None:
    for minute in range(3):
        traffic.add(minute, cells=5)
    found = counted_by_tenant(product, digest, 1, "incumbent", nine, nine + HOUR)
    assert [(cell.name.tenant, cell.records) for cell in found.sums()] == [("acme", 15)]


def test_the_last_request_is_found_wherever_it_lies(
    traffic: Counting, product: Product, digest: str, nine: datetime
) -> None:
    window = (product, digest, 1, "incumbent", nine, nine + 4 * HOUR)
    assert last_request_at(*window) is None
    traffic.add(3)
    assert last_request_at(*window) == nine + 3 * MINUTE
    compact(nine + 5 * HOUR)
    traffic.add(42)
    assert last_request_at(*window) == nine + 42 * MINUTE


def test_nothing_was_counted_for_a_stream_that_nobody_knows(
    product: Product, digest: str, nine: datetime
) -> None:
    nothing = counted(product, digest, 99, "candidate", nine, nine + 4 * HOUR)
    assert (nothing.cells, nothing.total("eligible")) == ((), 0)
