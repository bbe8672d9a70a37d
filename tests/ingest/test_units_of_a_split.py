"""Units of a canary are followed as a set: batching, order and delivery twice change nothing."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from ingest.models import ExposedUnit, FollowedSplit, Source
from ingest.selectors import edges_off, split_counts
from ingest.selectors.units import UnitCounts
from ingest.services import units
from ingest.services.clocks import note_skew
from ingest.services.units import follow_units, trim_units, unfollow_units
from policies.models import Product
from tests.ingest.ingest_cast import RecordMaker, RollupMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db


@pytest.fixture
def followed(product: Product) -> Product:
    follow_units(product, 1, "session", ["tenant_class"], timezone.now())
    return product


def counts(product: Product) -> list[UnitCounts]:
    now = timezone.now()
    found = split_counts(product, 1, now - timedelta(days=1), now)
    return found.strata if found else []


def test_sessions_count_once_by_cohort_and_one_of_both_is_seen(
    followed: Product, edge: Sender, record: RecordMaker
) -> None:
    sent = [record(session=f"s{n % 5}") for n in range(20)]
    sent += [record(session=f"c{n}", cohort="candidate") for n in range(3)]
    sent += [record(session="s0", cohort="candidate")]
    edge.records(*sent)
    count_waiting()
    assert counts(followed) == [UnitCounts("tenant_class=standard", 4, 5, 1)]


def test_parts_order_and_delivery_twice_change_no_count(
    followed: Product, edge: Sender, record: RecordMaker
) -> None:
    cohorts = ["candidate" if n % 7 == 3 else "incumbent" for n in range(21)]
    sent = [record(session=f"s{n % 7}", cohort=cohort) for n, cohort in enumerate(cohorts)]
    edge.records(*sent)
    count_waiting()
    once = counts(followed)
    for part in (sent[10:], sent[:10], sent[5:15]):
        edge.records(*reversed(part))
    count_waiting()
    assert counts(followed) == once == [UnitCounts("tenant_class=standard", 1, 6, 0)]


def test_requests_without_a_shape_say_nothing_of_the_split(
    followed: Product, edge: Sender, record: RecordMaker
) -> None:
    refused = {"action": "reject", "reason": "unknown_class"}
    edge.records(record(session="s1", decision=refused, outcome="rejected", attempts=[]))
    count_waiting()
    assert counts(followed) == []


def test_what_is_no_canary_is_not_followed(
    product: Product, edge: Sender, record: RecordMaker
) -> None:
    edge.records(record(session="s1"))
    count_waiting()
    assert not ExposedUnit.objects.exists()


def test_where_an_edge_tells_rollups_single_requests_are_no_split(
    followed: Product, edge: Sender, record: RecordMaker, rollup: RollupMaker
) -> None:
    edge.records(record(session="s1"))
    count_waiting()
    assert counts(followed)
    step = datetime.now(UTC).replace(second=0, microsecond=0) - timedelta(minutes=5)
    body = json.dumps(rollup(step_at=step.isoformat())).encode()
    answer = edge.post("/api/v1/ingest/rollups", body, **{"Batch-Id": "rollups-1"})
    assert answer.status_code == 202
    count_waiting()
    assert counts(followed) == []


def test_past_its_bound_a_sample_is_followed_and_its_share_is_told(
    followed: Product, edge: Sender, record: RecordMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(units, "MOST_UNITS", 16)
    edge.records(*(record(session=f"s{n}") for n in range(64)))
    count_waiting()
    trim_units(timezone.now())
    now = timezone.now()
    found = split_counts(followed, 1, now - timedelta(days=1), now)
    assert found is not None
    held = ExposedUnit.objects.count()
    assert 0 < held <= 16
    assert found.share < 0.5
    edge.records(*(record(session=f"s{n}") for n in range(64)))
    count_waiting()
    assert ExposedUnit.objects.count() == held


def test_a_split_that_is_over_is_forgotten(
    followed: Product, edge: Sender, record: RecordMaker
) -> None:
    edge.records(record(session="s1"))
    count_waiting()
    unfollow_units(followed, 1, timezone.now())
    trim_units(timezone.now())
    assert ExposedUnit.objects.exists()
    FollowedSplit.objects.update(closed_at=timezone.now() - timedelta(hours=2))
    trim_units(timezone.now())
    assert not ExposedUnit.objects.exists()


def test_an_edge_whose_records_have_yet_to_arrive_has_a_clock_that_is_ahead(
    product: Product, edge: Sender, record: RecordMaker
) -> None:
    began = timezone.now()
    edge.records(record(arrived_at=(began + timedelta(seconds=60)).isoformat()))
    count_waiting()
    ((name, skew_ms),) = edges_off(product, began)
    assert name == Source.objects.get(kind="edge").name
    assert 50_000 < skew_ms <= 60_000


def test_a_clock_within_its_bound_is_not_noted(
    product: Product, edge: Sender, record: RecordMaker
) -> None:
    edge.records(record())
    count_waiting()
    name, now = Source.objects.get(kind="edge").name, timezone.now()
    assert not note_skew(product, name, -4_999.0, now)
    assert edges_off(product, now - timedelta(days=1)) == []
    assert note_skew(product, name, -5_001.0, now)
    assert not note_skew(product, name, -9_000.0, now - timedelta(seconds=1))
    assert edges_off(product, now) == [(name, -5_001)]
