"""The page of a rollout: where it is, what it waits for with its numbers, and what comes next."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from policies.models import Product
from releases.models import Edge, Rollout
from releases.services.issue import latest
from tests.releases.releases_cast import SLUG, edge, says
from tests.releases.stage_cast import PREMIUM, fresh, passes, served, staged

STAGES: list[dict[str, Any]] = [
    {"canary": 0.1, "hold": "20s", "minimum_per_stratum": 200, "approval": "sre"},
    {"canary": 1.0, "hold": "20s"},
]


@pytest.fixture
def rollout(product: Product) -> Rollout:
    gateway: Edge = edge(product, "edge-1")
    says(gateway, latest(product))
    made = staged(product, gateway, *STAGES, strata=["task", "tenant_class"])
    served(made.publication, "candidate", 3)
    passes(made)
    return made


def page_of(client: Client, name: str) -> str:
    client.force_login(User.objects.get(username=name))
    return client.get(reverse("releases:rollout", args=[SLUG])).content.decode()


def test_it_says_where_it_is_and_what_it_waits_for_with_the_number(
    client: Client, rollout: Rollout
) -> None:
    said = page_of(client, "dee")
    assert "Stage 1 of 2: canary 10 %" in said
    assert "3 of 200 requests in stratum task=assistant, tenant_class=standard." in said
    assert "It waits for approval by an SRE." in said
    assert "canary 100 %, as soon as that holds" in said


def test_it_draws_only_the_moves_that_the_guard_would_take(
    client: Client, rollout: Rollout
) -> None:
    hold_back = reverse("releases:hold-back", args=[SLUG, rollout.pk])
    assert hold_back in page_of(client, "dee")
    assert reverse("releases:approve-stage", args=[SLUG, rollout.pk]) not in page_of(client, "dee")
    assert hold_back not in page_of(client, "eve")


def test_a_segment_is_held_back_by_the_form_and_let_go_by_the_api(
    client: Client, rollout: Rollout
) -> None:
    page_of(client, "dee")
    sent = {"segment": PREMIUM, "reason": "their contract renews", "expected_version": 2}
    answer = client.post(reverse("releases:hold-back", args=[SLUG, rollout.pk]), sent)
    assert answer.status_code == 302
    assert fresh(rollout).vector == [{"segment": PREMIUM, "stage": 0, "held": True}]
    assert "held back" in page_of(client, "eve")
    client.force_login(User.objects.get(username="dee"))
    url = f"/api/v1/rollouts/{rollout.pk}"
    body = {"segment": PREMIUM, "reason": "it is Saturday", "expected_version": 3}
    let_go = client.post(f"{url}/let-go", body, content_type="application/json")
    assert (let_go.status_code, let_go.json()["vector"][0]["held"]) == (200, False)
    stale = {**body, "expected_version": 2}
    again = client.post(f"{url}/hold-back", stale, content_type="application/json")
    assert (again.status_code, again.json()["code"]) == (409, "version_changed")


def test_machines_get_the_same_conditions_and_counts(client: Client, rollout: Rollout) -> None:
    client.force_login(User.objects.get(username="eve"))
    said = client.get(f"/api/v1/rollouts/{rollout.pk}").json()

    assert [lane["segment"] for lane in said["segments"]] == [""]
    names = {one["name"]: one["met"] for one in said["segments"][0]["conditions"]}
    assert names == {"hold": True, "gates": True, "sample": False, "approval": False}
    assert (said["exposure"][0]["requests"], said["exposure"][0]["planned"]) == (3, 0.1)
    assert said["blockers"][0].startswith("3 of 200 requests")
