"""However requests are batched, ordered and repeated, rollups equal a recount of the rows."""

from datetime import datetime, timedelta
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.selectors import rollup_rows
from ingest.selectors.recount import recount
from ingest.services.compaction import compact
from policies.models import Product
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db
REQUESTS = 8
OUTCOMES = ("completed", "failed", "rejected", "cancelled")
#: Which requests each delivery holds, and whether the compactor runs after it.
DELIVERIES = st.lists(
    st.tuples(st.lists(st.integers(0, REQUESTS - 1), min_size=1, max_size=5), st.booleans()),
    min_size=1,
    max_size=5,
)
_publications = count(1)


def _given_requests(record: RecordMaker, at: datetime, publication: int) -> list[dict[str, Any]]:
    return [
        record(
            publication=publication,
            outcome=OUTCOMES[number % 4],
            completion_ms=100.0 * (number + 1) * 3,
            arrived_at=(at + timedelta(seconds=2 * number)).isoformat(),
            decision={"action": "admit", "route": "full", "teu": f"{number}.000001"},
        )
        for number in range(REQUESTS)
    ]


@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(DELIVERIES)
def test_any_batching_gives_the_rollups_of_one_delivery(
    edge: Sender,
    record: RecordMaker,
    product: Product,
    digest: str,
    arrived_at: datetime,
    deliveries: list[tuple[list[int], bool]],
) -> None:
    parted, whole = next(_publications), next(_publications)
    end = arrived_at + timedelta(hours=1)
    requests = _given_requests(record, arrived_at, parted)
    for chosen, compacted in deliveries:
        edge.records(*(requests[number] for number in chosen))
        count_waiting()
        if compacted:
            compact(end)
    sent = {number for chosen, _ in deliveries for number in chosen}
    alone = _given_requests(record, arrived_at, whole)
    edge.records(*(alone[number] for number in sorted(sent)))
    count_waiting()
    found = [
        rollup_rows(product, digest, publication, "incumbent", arrived_at, end)
        for publication in (parted, whole)
    ]
    assert found[0] == found[1]
    assert sum(row.records for row in found[0]) == len(sent)
    assert recount(product, arrived_at, end).differences == []
