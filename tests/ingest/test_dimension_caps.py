"""A dimension keeps a bounded number of values, and the rest is counted as one."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from ingest.models import DimensionValue
from ingest.selectors import rollup_rows
from ingest.selectors.dimensions import dimensions
from ingest.selectors.recount import recount
from ingest.services.dimensions import capped
from policies.models import Product
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def two_values(settings: Any) -> None:
    settings.INGEST = replace(settings.INGEST, values=2, tenants=1)


def test_values_beyond_the_bound_are_counted_as_other_and_shown(
    edge: Sender, record: RecordMaker, product: Product, digest: str, arrived_at: datetime
) -> None:
    edge.records(*(record(segment={"surface": f"s{number}"}) for number in range(5)))
    count_waiting()
    end = arrived_at + timedelta(hours=1)
    rows = rollup_rows(product, digest, 1, "incumbent", arrived_at, end)
    counted = {row.dims["surface"]: row.records for row in rows}
    assert counted == {"s0": 1, "s1": 1, "other": 3}
    (shown,) = (one for one in dimensions(product, end) if one.dimension == "surface")
    assert (shown.kept, shown.most, shown.others, shown.requests) == (2, 2, 3, 5)


def test_a_value_that_was_seen_first_stays_whatever_comes_later(
    edge: Sender, record: RecordMaker, product: Product
) -> None:
    for value in ("b", "c", "a"):
        edge.records(record(segment={"surface": value}))
        count_waiting()
    kept = DimensionValue.objects.filter(product=product, dimension="surface")
    assert sorted(kept.values_list("value", flat=True)) == ["b", "c"]


def test_what_a_document_names_is_never_folded(product: Product) -> None:
    caps = capped(product, [{"task": f"t{number}"} for number in range(3)])
    assert caps.dims_of({"task": "structured_extraction"}) == (("task", "structured_extraction"),)
    assert caps.dims_of({"task": "t2", "language": "en"}) == (("language", "en"), ("task", "other"))


def test_nobody_is_no_tenant_and_takes_no_place(product: Product) -> None:
    caps = capped(product, [], ["", "acme", "zeta"])
    assert [caps.tenant_of(name) for name in ("", "acme", "zeta")] == ["", "acme", "other"]


def test_a_recount_knows_under_what_a_request_was_counted(
    edge: Sender, record: RecordMaker, product: Product, arrived_at: datetime
) -> None:
    edge.records(*(record(segment={"surface": f"s{number}"}) for number in range(5)))
    count_waiting()
    found = recount(product, arrived_at, arrived_at + timedelta(hours=1))
    assert (found.requests, found.differences) == (5, [])
