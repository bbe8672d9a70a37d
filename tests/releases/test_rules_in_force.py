"""Whose rules hold while a candidate is on its way: those of what is live, and not yet its own."""

from datetime import timedelta
from typing import Any

import pytest

from policies.models import Product
from policies.services import draft_generation
from releases.models import Proposal, Publication, Rollout, SecondLook
from releases.services.cap import cap_tenant
from releases.services.propose import propose, submit
from releases.services.publish import publish
from releases.services.reconcile import reconcile
from releases.services.waiting import goes_by_itself
from releases.states import ProposalState, RolloutState
from tests.releases.releases_cast import actor, approve, document, in_review, later

STAGES = [{"observe": "1h"}, {"canary": 1.0, "hold": "1h"}]
DAY = timedelta(days=1)


def on_its_way(product: Product, **approvals: Any) -> Rollout:
    """A candidate with rules of its own, which nobody is served yet."""
    given = document(2, stages=STAGES, publish="automatic")
    given["approvals"].update(approvals)
    revision = draft_generation(actor("ana"), product, given, "Other rules")
    proposal = propose(actor("ana"), product, revision.generation.number, "Other rules")
    submit(actor("ana"), proposal)
    for name in ("ben", "dee", "cho"):
        proposal.refresh_from_db()
        if proposal.state == ProposalState.IN_REVIEW:
            approve(name, proposal)
    publish(actor("dee"), proposal)
    return Rollout.objects.get()


def looked_at(product: Product) -> timedelta:
    """How long somebody has to look at a cap that is set now."""
    cap_tenant(actor("dee"), product, "acme", "10s", {"max_teu": 400}, "acme takes it all")
    look = SecondLook.objects.get()
    return look.due_at - look.opened_at


def waits_beside(product: Product, **approvals: Any) -> tuple[Proposal, Rollout]:
    """A review that runs when a candidate with other rules sets out."""
    waiting = in_review(product, acknowledged_share=0.9)
    return waiting, on_its_way(product, **approvals)


def test_a_candidate_on_its_way_ends_no_review_and_publishes_nothing(product: Product) -> None:
    waiting, rollout = waits_beside(product, expire_after="1h")
    reconcile(product.pk, later(2 * 3600))
    waiting.refresh_from_db()
    assert (waiting.state, goes_by_itself(waiting)) == (ProposalState.IN_REVIEW, False)
    Rollout.objects.filter(pk=rollout.pk).update(state=RolloutState.COMPLETED)
    reconcile(product.pk, later(2 * 3600))
    waiting.refresh_from_db()
    assert (waiting.state, goes_by_itself(waiting)) == (ProposalState.DRAFT, True)


@pytest.mark.parametrize(
    ("state", "within"), [(RolloutState.RUNNING, DAY), (RolloutState.COMPLETED, 30 * DAY)]
)
def test_a_candidate_on_its_way_loosens_no_second_look(
    product: Product, state: RolloutState, within: timedelta
) -> None:
    rollout = on_its_way(product, second_look="30d")
    Rollout.objects.filter(pk=rollout.pk).update(state=state)
    assert looked_at(product) == within


def test_a_candidate_that_was_closed_does_not_send_an_overdue_look_back(product: Product) -> None:
    on_its_way(product, second_look_overdue="rollback")
    looked_at(product)
    reconcile(product.pk, later(DAY.total_seconds() + 60))
    look = SecondLook.objects.select_related("publication").get()
    assert look.publication.number == Publication.objects.latest("number").number
