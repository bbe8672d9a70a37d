"""Stages, holds and edges: what lets a rollout go on, what keeps it, what brings it back."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, User
from controlplane.errors import Conflict
from gates.models import Window
from policies.models import Product
from releases.models import Edge, EdgeSeen, Publication, Rollout
from releases.selectors.edges import Standing, edge_facts
from releases.selectors.proven import target
from releases.selectors.reconciliation import pool_facts
from releases.services import rollout as moves
from releases.services.issue import latest
from releases.services.reconcile import reconcile
from releases.services.rollback import roll_back
from releases.states import RolloutState
from tests.releases.releases_cast import SLUG, actor, edge, judged, later, published, says

STAGES: list[dict[str, Any]] = [
    {"canary": 0.1, "hold": "20s"},
    {"canary": 0.25, "hold": "20s"},
    {"canary": 1.0, "hold": "20s"},
]


def at_stage_one(product: Product, gateway: Edge, **changes: Any) -> Rollout:
    """Published in stages, activated, its clock running."""
    rollout = published(product, stages=STAGES, **changes)
    says(gateway, rollout.publication)
    reconcile(product.pk, timezone.now())
    rollout.refresh_from_db()
    return rollout


def candidate_window(rollout: Rollout) -> Window:
    return Window.objects.get(publication=rollout.publication.number, cohort="candidate")


# Case 10
def test_one_edge_refuses_one_is_silent_and_no_clock_starts(
    client: Client, product: Product, gateway: Edge
) -> None:
    refusing, silent = edge(product, "edge-2"), edge(product, "edge-3")
    says(refusing, latest(product))
    rollout = published(product, stages=STAGES)
    says(gateway, rollout.publication)
    says(refusing, rollout.publication, "refused", "schema error at /fallback/3")
    Edge.objects.filter(pk=silent.pk).update(registered_at=later(-600))
    reconcile(product.pk, later(30))
    rollout.refresh_from_db()
    assert rollout.stage_opened_at is None
    assert candidate_window(rollout).is_ahead  # looked at for harm only
    facts = {fact.name: fact for fact in edge_facts(product, rollout.publication)}
    assert facts["edge-1"].standing == Standing.ACTIVE
    assert (facts["edge-2"].standing, facts["edge-2"].active) == (Standing.REFUSED, 1)
    assert facts["edge-3"].standing == Standing.SILENT
    client.force_login(User.objects.get(username="dee"))
    page = client.get(reverse("releases:edges", args=[SLUG])).content.decode()
    assert "schema error at /fallback/3" in page
    assert "Nothing heard" in page
    with pytest.raises(Conflict, match="edge-2"):
        moves.advance(actor("dee"), rollout)


def test_a_share_that_the_policy_allows_to_be_missing_starts_the_clock(
    product: Product, gateway: Edge
) -> None:
    Edge.objects.filter(pk=gateway.pk).update(share=9.0)
    edge(product, "small", share=1.0)
    rollout = at_stage_one(product, gateway, acknowledged_share=0.9)
    assert rollout.stage_opened_at is not None


def test_a_stage_advances_by_itself_and_growing_keeps_the_salt(
    product: Product, gateway: Edge
) -> None:
    rollout = at_stage_one(product, gateway)
    judged(candidate_window(rollout), "pass", later(25))
    reconcile(product.pk, later(26))
    rollout.refresh_from_db()
    assert (rollout.stage_index, rollout.publication.kind) == (1, "advance")
    assert (rollout.publication.fraction, rollout.stage_opened_at) == (0.25, None)
    from orchid.engine.wire.bundle import verify
    from releases.keys import public_keys

    bundles = [
        verify(row.token, public_keys(), product=SLUG, floor_publication=0, now=later(60))
        for row in Publication.objects.filter(number__gte=2)
    ]
    salts = {bundle.exposure.salt for bundle in bundles if bundle.exposure}
    assert salts == {rollout.candidate_digest}


# Case 8
def test_after_an_outage_one_stage_is_entered_and_the_next_needs_its_own_evidence(
    product: Product, gateway: Edge
) -> None:
    rollout = at_stage_one(product, gateway)
    judged(candidate_window(rollout), "pass", later(3600))
    EdgeSeen.objects.update(at=later(3600))
    for _ in range(3):
        reconcile(product.pk, later(3601))
    rollout.refresh_from_db()
    assert rollout.stage_index == 1
    assert Publication.objects.latest("number").number == 3


def test_an_evaluation_from_before_the_outage_advances_nothing(
    product: Product, gateway: Edge
) -> None:
    rollout = at_stage_one(product, gateway)
    judged(candidate_window(rollout), "pass", later(25))
    EdgeSeen.objects.update(at=later(3599))
    reconcile(product.pk, later(3600))
    rollout.refresh_from_db()
    assert rollout.stage_index == 0


@pytest.mark.parametrize("verdict", ["inconclusive", "no_data"])
def test_only_a_pass_advances(product: Product, gateway: Edge, verdict: str) -> None:
    rollout = at_stage_one(product, gateway)
    judged(candidate_window(rollout), verdict, later(25))
    reconcile(product.pk, later(26))
    rollout.refresh_from_db()
    assert (rollout.state, rollout.stage_index) == (RolloutState.RUNNING, 0)


def test_a_breach_rolls_back_at_once_where_the_policy_says_so(
    product: Product, gateway: Edge
) -> None:
    rollout = at_stage_one(product, gateway, on_breach="rollback")
    judged(candidate_window(rollout), "fail", later(1))
    reconcile(product.pk, later(2))
    rollout.refresh_from_db()
    newest = latest(product)
    assert newest is not None
    assert (rollout.state, newest.kind) == (RolloutState.ROLLED_BACK, "rollback")
    assert newest.actor == SYSTEM_ACTOR.name


def test_a_breach_pauses_where_the_policy_says_so_and_resuming_begins_the_hold_anew(
    product: Product, gateway: Edge
) -> None:
    rollout = at_stage_one(product, gateway, on_breach="pause")
    judged(candidate_window(rollout), "fail", later(1))
    reconcile(product.pk, later(2))
    rollout.refresh_from_db()
    assert (rollout.state, rollout.publication.kind) == (RolloutState.PAUSED, "pause")
    assert rollout.publication.fraction == 0.1
    resumed = moves.resume(actor("dee"), rollout, "it was the load test")
    assert (resumed.state, resumed.stage_opened_at) == (RolloutState.RUNNING, None)
    assert Publication.objects.latest("number").kind == "resume"


@pytest.mark.parametrize("on_breach", ["rollback", "pause"])
def test_a_breach_of_what_was_paused_goes_back_where_the_policy_says_so(
    product: Product, gateway: Edge, on_breach: str
) -> None:
    rollout = at_stage_one(product, gateway, on_breach=on_breach)
    paused = moves.pause(actor("dee"), rollout, "a look first")
    says(gateway, paused.publication)
    reconcile(product.pk, later(1))
    judged(candidate_window(paused), "pass", later(25))
    reconcile(product.pk, later(26))
    paused.refresh_from_db()
    assert paused.state == RolloutState.PAUSED  # nothing else moves it
    judged(candidate_window(paused), "fail", later(27))
    reconcile(product.pk, later(28))
    paused.refresh_from_db()
    ends = RolloutState.ROLLED_BACK if on_breach == "rollback" else RolloutState.PAUSED
    assert paused.state == ends


def test_a_rollback_waits_for_nothing_and_asking_again_changes_nothing(
    client: Client, product: Product, gateway: Edge
) -> None:
    rollout = at_stage_one(product, gateway)
    client.force_login(User.objects.get(username="dee"))
    url, body = f"/api/v1/products/{SLUG}/rollbacks", {"reason": "users complain"}
    first = client.post(url, body, content_type="application/json")
    second = client.post(url, body, content_type="application/json")
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["number"] == second.json()["number"] == 3
    rollout.refresh_from_db()
    assert rollout.state == RolloutState.ROLLED_BACK
    acts = AuditEvent.objects.filter(action__endswith=".rollback")
    assert [(act.actor, act.reason) for act in acts] == [("dee", "users complain")]
    with pytest.raises(Conflict) as refused:
        moves.advance(actor("dee"), rollout)
    assert refused.value.code == "move_not_allowed"


def test_a_rollback_keeps_the_pool_of_what_still_runs(product: Product, gateway: Edge) -> None:
    rollout = at_stage_one(product, gateway)
    gateway.seen.open_sequences = {rollout.candidate_digest: 3}
    gateway.seen.save()
    publication, _ = roll_back(actor("dee"), product, "users complain")
    assert publication.pools[rollout.candidate_digest] == "four"
    facts = {fact.pool: (fact.role, fact.open_sequences) for fact in pool_facts(product)}
    assert facts == {"six": ("serving", 0), "four": ("draining", 3)}


# Case 8
def test_an_equal_idempotency_key_gets_the_first_answer(
    client: Client, product: Product, gateway: Edge
) -> None:
    rollout = at_stage_one(product, gateway)
    client.force_login(User.objects.get(username="dee"))
    url = f"/api/v1/rollouts/{rollout.pk}/pause"
    body = {"reason": "a look first", "expected_version": rollout.version}
    key = {"Idempotency-Key": "one-pause"}
    answers = [
        client.post(url, body, content_type="application/json", headers=key) for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    late = client.post(url, body, content_type="application/json")
    assert (late.status_code, late.json()["code"]) == (409, "version_changed")
    assert Publication.objects.filter(kind="pause").count() == 1
    assert AuditEvent.objects.filter(action="rollout.pause").count() == 1


def test_a_reader_rolls_nothing_back(client: Client, product: Product, gateway: Edge) -> None:
    at_stage_one(product, gateway)
    client.force_login(User.objects.get(username="eve"))
    assert client.get(reverse("releases:rollback", args=[SLUG])).status_code == 403
    url = f"/api/v1/products/{SLUG}/rollbacks"
    answer = client.post(url, {"reason": "me too"}, content_type="application/json")
    assert answer.status_code == 403
    overview = client.get(reverse("releases:overview", args=[SLUG])).content.decode()
    assert reverse("releases:rollback", args=[SLUG]) not in overview


def test_what_was_published_never_changes_and_is_never_deleted(product: Product) -> None:
    rows = Publication.objects.filter(product=product)
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.update(incumbent_digest="sha256:other")
    with pytest.raises(IntegrityError), transaction.atomic():
        rows.delete()
    rows.update(etag='"again"')
    assert rows.get().etag == '"again"'


# Case 33
def test_tags_follow_from_the_bytes_that_are_served(product: Product, gateway: Edge) -> None:
    from orchid.engine.wire.bundle import etag_of

    at_stage_one(product, gateway)
    found = list(Publication.objects.order_by("number"))
    assert [publication.etag for publication in found] == [etag_of(p.token) for p in found]
    assert len({publication.etag for publication in found}) == len(found)


def test_a_candidate_that_was_stopped_is_not_brought_back_as_a_rollback(
    product: Product, gateway: Edge
) -> None:
    published(product, stages=[{"canary": 1.0, "hold": "20s"}])
    first, _ = roll_back(actor("dee"), product, "it breaks")
    again, made = roll_back(actor("dee"), product, "on second thoughts", to=2)
    assert (again, made) == (first, False)


def test_a_candidate_that_came_through_can_be_brought_back_by_its_number(
    product: Product, gateway: Edge
) -> None:
    rollout = published(product, stages=[{"canary": 1.0, "hold": "20s"}])
    first = Publication.objects.get(number=1)
    assert target(product, first, to=2) is None
    Rollout.objects.filter(pk=rollout.pk).update(state=RolloutState.COMPLETED)
    assert target(product, first, to=2) == rollout.candidate_digest
