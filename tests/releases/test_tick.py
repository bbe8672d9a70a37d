"""The tick of the room, as the worker runs it."""

import logging

import pytest
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import User
from gates.models import Window
from policies.models import Product
from policies.services import create_product
from releases import tasks
from releases.services.issue import latest
from releases.services.reconcile import reconcile
from tests.releases.releases_cast import SLUG, edge, judged, later, live_product, published, says


def test_a_product_that_fails_keeps_no_other_from_being_reconciled(
    people: dict[str, User], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    product = live_product()
    other = create_product(SYSTEM_ACTOR, "another", "Another", template="small")
    says(edge(product, "edge-1"), latest(product))
    _bring_to_life(other)

    def failing(product_id: int, now: object) -> bool:
        if product_id == other.pk:
            raise RuntimeError("its document can't be read")
        return reconcile(product_id, timezone.now())

    monkeypatch.setattr(tasks, "reconcile", failing)
    with caplog.at_level(logging.ERROR):
        assert tasks.reconcile_all() == 1
    assert Window.objects.get().product.slug == SLUG
    assert "was not reconciled" in caplog.text


@pytest.mark.parametrize(
    "broken",
    ["waiting.step", "resign.step", "reconciliation.step", "edge_watch.step", "tell_servers"],
)
def test_a_step_that_fails_keeps_no_breach_from_being_rolled_back(
    product: Product, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    gateway = edge(product, "edge-1")
    says(gateway, latest(product))
    stages = [{"canary": 0.1, "hold": "20s"}, {"canary": 1.0, "hold": "20s"}]
    rollout = published(product, stages=stages, on_breach="rollback")
    says(gateway, latest(product))
    reconcile(product.pk, timezone.now())
    judged(Window.objects.get(cohort="candidate"), "fail", later(1))

    def failing(*_: object) -> None:
        raise RuntimeError("what it reads is broken")

    monkeypatch.setattr(f"releases.services.reconcile.{broken}", failing)
    with caplog.at_level(logging.ERROR):
        assert reconcile(product.pk, later(2))
    rollout.refresh_from_db()
    assert rollout.state == "rolled_back"
    assert "a step of product" in caplog.text


def _bring_to_life(product: Product) -> None:
    from policies.models import Revision
    from releases.services.publish import bootstrap

    revision = Revision.objects.get(generation__product=product)
    bootstrap(SYSTEM_ACTOR, product, revision, "the beginning")
