"""What may be missing from a window's figures is known by name, and only of that window."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from ingest import selectors
from ingest.models import Batch, Source
from ingest.selectors import Completeness
from policies.models import Product
from tests.ingest.ingest_cast import RecordMaker, Sender, count_waiting

pytestmark = pytest.mark.django_db
MINUTE = timedelta(minutes=1)


class Window:
    """The half hour that ends now, with the batches of one edge in it."""

    def __init__(self, product: Product, edge: Sender, record: RecordMaker) -> None:
        self.product, self.edge, self.record = product, edge, record
        self.now = timezone.now()

    def send(self, first: int, last: int, *, minute: int = 0, **headers: str) -> None:
        """A batch of so many records that comes in at a minute of the window, counted from now."""
        sequence = {"Boot-Id": "boot", "First-Seq": str(first), "Last-Seq": str(last)}
        answer = self.edge.records(self.record(), **sequence, **headers)
        assert answer.status_code == 202
        Batch.objects.filter(batch_id=answer.json()["batch_id"]).update(
            received_at=self.now + minute * MINUTE
        )

    def facts(self, start: int = -30, end: int = 0) -> Completeness:
        return selectors.completeness(
            self.product, self.now + start * MINUTE, self.now + end * MINUTE, self.now
        )

    def at(self, minute: int) -> str:
        return (self.now + minute * MINUTE).astimezone(UTC).isoformat()


@pytest.fixture
def window(product: Product, edge: Sender, record: RecordMaker) -> Window:
    return Window(product, edge, record)


def test_all_that_came_in_order_lacks_nothing(window: Window) -> None:
    window.send(1, 2, minute=-20)
    window.send(3, 3, minute=-10)
    count_waiting()
    assert window.facts().uncounted == ()


def test_numbers_that_never_came_are_named_by_edge(window: Window) -> None:
    window.send(1, 2, minute=-20)
    window.send(6, 6, minute=-10)
    count_waiting()
    facts = window.facts()
    assert facts.missing == {"edge-1": 3}
    assert facts.uncounted == ("records of edge-1 that never came: 3",)


def test_a_hole_that_is_filled_late_is_none(window: Window) -> None:
    for first, last in ((1, 2), (6, 6), (3, 5)):
        window.send(first, last, minute=-10)
    assert window.facts().missing == {}
    count_waiting()
    assert window.facts().missing == {}


def test_a_hole_concerns_the_window_that_its_records_may_lie_in(window: Window) -> None:
    window.send(1, 2, minute=-20, Watermark=window.at(-21))
    window.send(6, 6, minute=-10)
    count_waiting()
    assert window.facts(-30, -25).missing == {}
    assert window.facts(-30, -15).missing == {"edge-1": 3}
    assert window.facts(-9, 0).missing == {}


@pytest.mark.parametrize("status", ["received", "set_aside"])
def test_what_is_not_counted_concerns_the_window_that_it_may_hold_arrivals_of(
    window: Window, status: str
) -> None:
    window.send(1, 1, minute=-20, Watermark=window.at(-21))
    count_waiting()
    window.send(2, 2, minute=-10)
    Batch.objects.filter(status="received").update(status=status)
    counts = [
        (facts.waiting, facts.set_aside)
        for facts in (window.facts(-30, -25), window.facts(-30, -15), window.facts(-9, 0))
    ]
    one = (1, 0) if status == "received" else (0, 1)
    assert counts == [(0, 0), one, (0, 0)]


def test_an_edge_that_tells_nothing_any_more_is_named(window: Window) -> None:
    window.send(1, 1, minute=-2)
    Source.objects.update(last_seen_at=window.now - MINUTE)
    assert window.facts().silent == ("edge-1",)
    assert window.facts(start=0).silent == ()


def test_an_idle_edge_moves_the_watermark_by_batches_without_requests(window: Window) -> None:
    """Windows without a request are told apart from windows that nobody told of."""
    reached: list[Any] = []
    for minute in (-3, -2, -1):
        window.edge.records(Watermark=window.at(minute))
        count_waiting()
        reached.append(window.facts().watermark)
    assert reached == [window.now + minute * MINUTE for minute in (-3, -2, -1)]
    assert isinstance(reached[0], datetime)
