"""What a stage asks beside its time: each missing thing is named with its number, and holds."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, Grant, User
from accounts.roles import EVERY_PRODUCT, Role
from accounts.services import grant
from controlplane.errors import Conflict, Forbidden
from gates.models import Evaluation
from gates.services import evaluate
from ingest.models import ServerChange
from ingest.services import servers
from policies.models import Product
from releases.models import Drill, DrillAnswer, Edge, Publication, Rollout
from releases.services import rollout as moves
from releases.services.issue import latest
from releases.services.reconcile import reconcile
from releases.services.rollback import roll_back
from releases.services.stage import approve_stage
from tests.releases.releases_cast import actor, published
from tests.releases.stage_cast import (
    activated,
    candidate_window,
    fresh,
    passes,
    served,
    staged,
    waits,
)

LAST: dict[str, Any] = {"canary": 1.0, "hold": "20s"}


def canary(**asked: Any) -> dict[str, Any]:
    return {"canary": 0.1, "hold": "20s", **asked}


def told(client: Client, rollout: Rollout) -> set[tuple[str, str]]:
    """What each number that is waited for is of: condition and segment or stratum, by the API."""
    client.force_login(User.objects.get(username="eve"))
    lanes = client.get(f"/api/v1/rollouts/{rollout.pk}").json()["segments"]
    return {(one["name"], one["of"]) for lane in lanes for one in lane["conditions"]}


# Case 1
def test_a_silent_segment_keeps_the_stage_by_name_and_nothing_rolls_back(
    client: Client, product: Product, gateway: Edge
) -> None:
    first = latest(product)
    assert first is not None
    served(first, "incumbent", 3, tenant_class="premium", at=timezone.now() - timedelta(hours=1))
    asked = canary(minimum_per_stratum=20)
    rollout = staged(product, gateway, asked, LAST, strata=["tenant_class"])
    served(rollout.publication, "candidate", 30)
    passes(rollout)
    assert "0 of 20 requests in stratum tenant_class=premium." in waits(rollout)
    assert "standard" not in waits(rollout)
    assert ("sample", "tenant_class=premium") in told(client, rollout)
    reconcile(product.pk, timezone.now())
    assert (fresh(rollout).stage_index, fresh(rollout).state) == (0, "running")
    served(rollout.publication, "candidate", 20, tenant_class="premium")
    reconcile(product.pk, timezone.now())
    assert fresh(rollout).stage_index == 1


# Case 1
def test_a_gated_segment_without_a_request_is_named_by_the_judgement_itself(
    product: Product, gateway: Edge
) -> None:
    rollout = staged(product, gateway, canary(), LAST)
    served(rollout.publication, "candidate", 120)
    evaluate(candidate_window(rollout).pk, timezone.now())
    reconcile(product.pk, timezone.now())
    assert fresh(rollout).stage_index == 0
    assert Evaluation.objects.latest("id").verdict != "pass"
    assert "segment assistant-premium: no data: 0 of 100 requests" in waits(rollout)


def test_cache_cycles_make_a_hold_as_long_as_they_take(product: Product, gateway: Edge) -> None:
    asked = canary(cache_cycles=3)
    rollout = staged(product, gateway, asked, LAST, cache_cycle="5m")
    passes(rollout)
    assert "of 15 min" in waits(rollout)
    shorter = staged_again(product, gateway, canary(cache_cycles=3), LAST, cache_cycle="1m")
    passes(shorter)
    assert waits(shorter) == ""


def staged_again(product: Product, gateway: Edge, *stages: Any, **changes: Any) -> Any:
    roll_back(actor("dee"), product, "another try")
    return staged(product, gateway, *stages, **changes)


def test_a_stage_waits_for_an_hour_as_busy_as_the_week_has_known(
    product: Product, gateway: Edge
) -> None:
    first = latest(product)
    assert first is not None
    busy = timezone.now().replace(minute=30, second=0) - timedelta(hours=5)
    served(first, "incumbent", 40, at=busy)
    rollout = staged(product, gateway, canary(peak=0.5), LAST)
    passes(rollout)
    now = timezone.now()
    assert "0 requests in its busiest hour; a peak is 20" in waits(rollout, now)
    served(rollout.publication, "incumbent", 15, at=now - timedelta(seconds=90))
    served(rollout.publication, "candidate", 15, at=now - timedelta(seconds=90))
    # What the product was asked for is read once a minute.
    later = now + timedelta(seconds=60)
    passes(rollout, later)
    assert waits(rollout, later) == ""


def test_a_stage_that_asks_for_a_person_waits_for_one_who_had_no_hand_in_it(
    product: Product, gateway: Edge
) -> None:
    grant(SYSTEM_ACTOR, User.objects.get(username="ana"), Role.SRE, EVERY_PRODUCT)
    rollout = staged(product, gateway, canary(approval="sre"), LAST)
    with pytest.raises(Conflict) as early:
        approve_stage(actor("dee"), rollout, "looks good")
    assert early.value.code == "not_ready"
    evaluation = passes(rollout)
    reconcile(product.pk, timezone.now())
    assert (fresh(rollout).stage_index, waits(rollout)) == (0, "It waits for approval by an SRE.")
    with pytest.raises(Forbidden) as own:
        approve_stage(actor("ana"), rollout, "mine is fine")
    assert own.value.code == "own_proposal"
    with pytest.raises(Forbidden) as other:
        approve_stage(actor("ben"), rollout, "fine by me")
    assert other.value.code == "role_not_asked"
    approve_stage(actor("dee"), rollout, "p95 has room")
    assert rollout.approvals.get().evaluation_id == evaluation.pk
    reconcile(product.pk, timezone.now())
    assert fresh(rollout).stage_index == 1
    acts = AuditEvent.objects.filter(action="rollout.approve_stage")
    assert [(act.actor, act.reason) for act in acts] == [("dee", "p95 has room")]


def test_an_approval_is_of_one_publication_and_of_a_role_that_is_still_held(
    product: Product, gateway: Edge
) -> None:
    rollout = staged(product, gateway, canary(approval="sre"), LAST)
    passes(rollout)
    approve_stage(actor("dee"), rollout, "p95 has room")
    assert waits(rollout) == ""
    Grant.objects.filter(user__username="dee").update(role=Role.AUDITOR)
    assert waits(rollout) == "It waits for approval by an SRE."
    Grant.objects.filter(user__username="dee").update(role=Role.SRE)
    moves.pause(actor("dee"), fresh(rollout), "a look first")
    moves.resume(actor("dee"), fresh(rollout), "all well")
    activated(rollout, gateway, timezone.now() - timedelta(minutes=5))
    passes(rollout)
    assert waits(rollout) == "It waits for approval by an SRE."


def test_the_whole_waits_for_a_peak_a_cold_start_and_a_rehearsed_rollback(
    product: Product, gateway: Edge
) -> None:
    covered = ["peak", "cold_start", "drill"]
    rollout = staged(product, gateway, canary(), LAST, before_whole=covered)
    passes(rollout)
    said = waits(rollout)
    assert "no peak is known" in said
    assert "No server of pool four has come up cold" in said
    assert "Rolling back has not been rehearsed" in said
    reconcile(product.pk, timezone.now())
    assert fresh(rollout).stage_index == 0
    wish = {"http_url": "http://127.0.0.1:9", "pool": "four"}
    server = servers.register(actor("ana"), product, "four", wish)
    ServerChange.objects.create(server=server, at=timezone.now(), state="ready")
    rehearsed(rollout.publication, gateway, "refused")
    assert "In the last rehearsal 0 of 1 edges could have rolled back." in waits(rollout)
    rehearsed(rollout.publication, gateway, "ready", silent=["edge-9"])
    assert "In the last rehearsal 1 of 2 edges could have rolled back." in waits(rollout)
    rehearsed(rollout.publication, gateway, "ready")
    now = timezone.now()
    served(rollout.publication, "candidate", 3, at=now - timedelta(seconds=1))
    later = now + timedelta(seconds=61)
    passes(rollout, later)
    assert waits(rollout, later) == ""


def rehearsed(
    publication: Publication, gateway: Edge, state: str, silent: Sequence[str] = ()
) -> None:
    now = timezone.now()
    drill = Drill.objects.create(
        product=publication.product,
        publication=publication,
        digest=publication.incumbent_digest,
        pool="six",
        token="-",
        prepared_ms=1.0,
        started_at=now,
        deadline_at=now,
        asked=[gateway.name],
        silent=list(silent),
        actor="dee",
    )
    DrillAnswer.objects.create(drill=drill, edge=gateway, state=state, at=now)


def test_a_stage_that_takes_traffic_waits_for_a_pool_that_has_been_tried(
    product: Product, gateway: Edge
) -> None:
    rollout = staged(product, gateway, {"observe": "20s"}, canary(), LAST, warm_up=True)
    assert waits(rollout) == "No server of pool four is registered, so none can be tried."
    wish = {"http_url": "http://127.0.0.1:9", "pool": "four"}
    servers.register(actor("ana"), product, "four", wish)
    assert "0 of 1 servers of pool four have answered a probe" in waits(rollout)


def test_no_proposal_is_published_straight_into_traffic_on_a_cold_pool(product: Product) -> None:
    with pytest.raises(Conflict) as refused:
        published(product, stages=[canary(), LAST], warm_up=True)
    assert refused.value.code == "pool_not_warm"


def test_a_stage_that_asks_nothing_more_waits_for_its_hold_and_its_gates_alone(
    product: Product, gateway: Edge
) -> None:
    rollout = staged(product, gateway, canary(), LAST)
    passes(rollout)
    assert waits(rollout) == ""
