"""Two people, or a person and a worker, at the same moment: real connections, one winner."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from accounts.models import AuditEvent
from controlplane.errors import Conflict
from gates.models import Window
from policies.models import Product
from releases.models import EdgeSeen, Publication, Rollout, Webhook
from releases.services import rollout as moves
from releases.services.publish import publish
from releases.services.reconcile import reconcile
from releases.services.rollback import roll_back
from releases.services.webhooks import MOST, create_webhook
from tests.releases.releases_cast import (
    SLUG,
    actor,
    approved,
    cast,
    edge,
    judged,
    later,
    live_product,
    published,
    says,
)

STAGES = [{"canary": 0.1, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shared() -> Product:
    """A product that other connections see."""
    cast()
    return live_product()


def together(*acts: Callable[[], Any]) -> list[Any]:
    """Run each on a connection of its own at one moment; a refusal is a result."""
    start = Barrier(len(acts))

    def run(act: Callable[[], Any]) -> Any:
        try:
            start.wait(60)
            return act()
        except Conflict as refused:
            return refused
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def refusals(results: list[Any]) -> list[str]:
    return [result.code for result in results if isinstance(result, Conflict)]


def ready_to_advance(product: Product) -> Rollout:
    gateway = edge(product, "edge-1")
    rollout = published(product, stages=STAGES)
    says(gateway, rollout.publication)
    reconcile(product.pk, timezone.now())
    window = Window.objects.get(publication=rollout.publication.number, cohort="candidate")
    judged(window, "pass", later(25))
    rollout.refresh_from_db()
    return rollout


# Case 8
def test_a_browser_and_a_worker_advance_once(shared: Product) -> None:
    rollout = ready_to_advance(shared)
    version, at = rollout.version, later(26)

    def advance() -> Rollout:
        mine = Rollout.objects.get(pk=rollout.pk)
        return moves.advance(actor("dee"), mine, expected_version=version, now=at)

    results = together(advance, advance, lambda: reconcile(shared.pk, at))
    assert Publication.objects.filter(kind="advance").count() == 1
    assert AuditEvent.objects.filter(action="rollout.advance").count() == 1
    assert set(refusals(results)) <= {"version_changed"}
    assert len(refusals(results)) >= 1
    assert list(Publication.objects.order_by("number").values_list("number", flat=True)) == [
        1,
        2,
        3,
    ]


def test_a_rollback_fences_an_advance_that_is_under_way(shared: Product) -> None:
    rollout = ready_to_advance(shared)
    at = later(26)

    def advance() -> Rollout:
        return moves.advance(actor("dee"), Rollout.objects.get(pk=rollout.pk), now=at)

    together(advance, lambda: roll_back(actor("dee"), shared, "users complain"))
    newest = Publication.objects.latest("number")
    assert (newest.kind, newest.candidate_digest) == ("rollback", None)
    rollout.refresh_from_db()
    assert rollout.state == "rolled_back"


def test_a_hundred_rollbacks_at_once_are_one(shared: Product) -> None:
    published(shared)

    def some(name: str) -> list[bool]:
        return [roll_back(actor(name), shared, "users complain")[1] for _ in range(5)]

    results = together(*[lambda: some("dee"), lambda: some("ben")] * 10)
    assert sorted(made for made_by_one in results for made in made_by_one) == [False] * 99 + [True]
    assert Publication.objects.filter(kind="rollback").count() == 1
    assert AuditEvent.objects.filter(action="rollout.rollback").count() == 1


# Case 7
def test_of_two_proposals_published_at_once_one_is_published(shared: Product) -> None:
    one, other = approved(shared), approved(shared, publish="manual")
    results = together(lambda: publish(actor("dee"), one), lambda: publish(actor("ben"), other))
    assert refusals(results) == ["base_changed"]
    numbers = Publication.objects.order_by("number").values_list("number", flat=True)
    assert list(numbers) == [1, 2]


# Case 34
def test_a_redelivered_tick_takes_each_step_once(shared: Product) -> None:
    rollout = ready_to_advance(shared)
    EdgeSeen.objects.update(at=later(20))
    at = later(26)
    together(*[lambda: reconcile(shared.pk, at)] * 4)
    rollout.refresh_from_db()
    assert rollout.stage_index == 1
    assert Publication.objects.filter(product__slug=SLUG, kind="advance").count() == 1


def test_of_webhooks_named_at_once_no_more_are_made_than_a_product_may_have(
    shared: Product,
) -> None:
    def named(number: int) -> Callable[[], Any]:
        url = f"https://example.org/{number}"
        return lambda: create_webhook(actor("ben"), shared, url, ["breach"])

    for number in range(MOST - 1):
        named(number)()
    results = together(*[named(number) for number in range(MOST, MOST + 8)])
    assert refusals(results) == ["too_many_webhooks"] * 7
    assert Webhook.objects.filter(ended_at=None).count() == MOST
