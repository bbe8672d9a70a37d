"""Tenants with the most traffic keep their names in rollups, the rest is counted as one."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from ingest.models import DimensionValue, TenantNote, TenantRanking
from ingest.selectors.dimensions import dimensions
from ingest.selectors.recount import recount
from ingest.services.compaction import compact
from ingest.services.tenants import HALF_LIFE, note_tenants, rank_tenants
from policies.models import Product
from tests.ingest.ingest_cast import RecordMaker, RollupMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def two_tenants(settings: Any) -> None:
    settings.INGEST = replace(settings.INGEST, tenants=2)


@pytest.fixture
def send(edge: Sender, record: RecordMaker) -> Any:
    def send(**requests: int) -> None:
        edge.records(*(record(tenant=name) for name, n in requests.items() for _ in range(n)))
        count_waiting()

    return send


def kept() -> list[str]:
    rows = DimensionValue.objects.filter(dimension="tenant").order_by("value")
    return list(rows.values_list("value", flat=True))


def counted(edge: Sender) -> dict[str, int]:
    rows = edge.client.get("/api/v1/ingest/rollups?by=tenant").json()["results"]
    return {row["tenant"]: row["records"] for row in rows}


def test_a_tenant_with_more_traffic_takes_a_place_and_counts_from_then_on(
    edge: Sender, send: Any
) -> None:
    send(small=1, steady=4)
    send(large=3)
    assert counted(edge) == {"small": 1, "steady": 4, "other": 3}
    now = timezone.now()
    assert rank_tenants(now) == 1
    assert kept() == ["large", "steady"]
    send(large=2, small=1)
    assert counted(edge) == {"small": 1, "steady": 4, "other": 4, "large": 2}
    assert DimensionValue.objects.get(value="large").kept_since == now
    (row,) = (
        row
        for row in edge.client.get("/api/v1/ingest/rollups?by=tenant").json()["results"]
        if row["tenant"] == "large"
    )
    assert datetime.fromisoformat(row["tenant_since"]) == now


def test_on_a_tie_whoever_is_there_stays(send: Any) -> None:
    send(b=2, c=2)
    send(a=2, d=2)
    assert rank_tenants(timezone.now()) == 0
    assert kept() == ["b", "c"]


def test_a_second_tick_and_a_batch_again_change_nothing(
    edge: Sender, record: RecordMaker, send: Any
) -> None:
    send(b=1, c=3)
    lines = [record(tenant="a") for _ in range(2)]
    for batch in ("once", "again"):
        edge.records(*lines, **{"Batch-Id": batch})
    count_waiting()
    now = timezone.now()
    assert [rank_tenants(now), rank_tenants(now)] == [1, 0]
    assert TenantRanking.objects.get().held["a"] == [2.0, 0.0]
    assert not TenantNote.objects.exists()


def test_what_an_edge_counted_itself_is_traffic_too(edge: Sender, rollup: RollupMaker) -> None:
    alone: dict[str, Any] = {"segment": {}, "route": None, "tenant": "a"}
    line = json.dumps(rollup(5, **alone)).encode()
    edge.post("/api/v1/ingest/rollups", line, **{"Batch-Id": "r"})
    count_waiting()
    assert TenantNote.objects.get().requests == {"a": 5}


def test_traffic_of_long_ago_gives_way(product: Product) -> None:
    now = timezone.now()
    note_tenants(product, 1, {"a": 100, "b": 100})
    rank_tenants(now)
    note_tenants(product, 2, {"c": 30})
    assert rank_tenants(now) == 0
    note_tenants(product, 3, {"c": 30})
    assert rank_tenants(now + 3 * HALF_LIFE) == 1
    assert kept() == ["b", "c"]


def test_the_sources_page_says_since_when_a_tenant_is_counted_by_name(
    product: Product, send: Any
) -> None:
    send(a=1, b=1)
    send(c=5)
    now = timezone.now()
    rank_tenants(now)
    (shown,) = (one for one in dimensions(product, now) if one.dimension == "tenant")
    assert (shown.kept, shown.others, shown.changed_at) == (2, 5, now)


def test_a_recount_finds_every_request_by_tenant_whatever_its_name_was_counted_as(
    product: Product, send: Any, arrived_at: datetime
) -> None:
    send(a=1, b=1)
    send(c=3)
    rank_tenants(timezone.now())
    send(c=1, a=1)
    compact(timezone.now())
    found = recount(product, arrived_at, arrived_at + timedelta(hours=1))
    assert (found.requests, found.differences) == (7, [])
