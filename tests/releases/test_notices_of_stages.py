"""A stage that lacks nothing but a person asks that person, once, and nobody else."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from policies.models import Product
from releases.models import Edge, Notice
from releases.services.issue import latest
from releases.services.notices import gather
from tests.releases.releases_cast import edge, says
from tests.releases.stage_cast import passes, staged

LAST: dict[str, Any] = {"canary": 1.0, "hold": "20s"}


@pytest.fixture
def gateway(product: Product) -> Edge:
    """In front of a product whose people all have an address."""
    for name in ("ana", "ben", "cho", "dee"):
        User.objects.filter(username=name).update(email=f"{name}@example.com")
    found = edge(product, "edge-1")
    says(found, latest(product))
    return found


def asked_of_a_stage(product: Product) -> list[set[str]]:
    """Who was told of each stage that waits, after two ticks."""
    for _ in range(2):
        gather(product, timezone.now() + timedelta(seconds=1))
    told = Notice.objects.filter(product=product, key__startswith="stage:", kind="waits")
    return [{row.to for row in one.deliveries.all()} for one in told]


def test_a_stage_that_asks_for_an_approval_asks_those_who_can_give_it_once_all_else_holds(
    product: Product, gateway: Edge
) -> None:
    asked = {"canary": 0.1, "hold": "20s", "approval": "product_owner"}
    rollout = staged(product, gateway, asked, LAST)
    assert asked_of_a_stage(product) == []
    passes(rollout)
    assert asked_of_a_stage(product) == [{"ben", "cho"}]
    assert "Your approval is asked" in Notice.objects.get(key__startswith="stage:").text


def test_a_stage_that_measures_nothing_asks_those_who_publish_when_its_time_is_over(
    product: Product, gateway: Edge
) -> None:
    staged(product, gateway, {"observe": "5m"}, LAST)
    assert asked_of_a_stage(product) == [{"ben", "cho", "dee"}]


def test_a_stage_that_waits_for_its_time_asks_nobody(product: Product, gateway: Edge) -> None:
    staged(product, gateway, {"observe": "1h"}, LAST)
    assert asked_of_a_stage(product) == []
