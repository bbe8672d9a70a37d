"""Who may decide, on what, and what voids a decision."""

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, Grant, User
from accounts.roles import EVERY_PRODUCT, Role
from accounts.services import grant, issue_credential
from controlplane.errors import Conflict, Forbidden, Invalid
from gates.services import push_evidence
from orchid.engine.document.canonical import manifest_digest
from policies.models import Product, Revision
from policies.selectors import document_of
from policies.services import draft_generation
from releases.models import Proposal, Publication, Vote
from releases.selectors.review import review
from releases.services.binding import bound_digest
from releases.services.propose import propose, submit
from releases.services.publish import publish
from releases.services.reconcile import reconcile
from releases.services.review import vote
from releases.states import Choice, ProposalState
from tests.releases.releases_cast import (
    SLUG,
    actor,
    approve,
    approved,
    document,
    drafted,
    in_review,
    published,
    revised,
)


def post(client: Client, path: str, body: dict[str, Any], **headers: str) -> Any:
    return client.post(
        f"/api/v1{path}", json.dumps(body), content_type="application/json", headers=headers
    )


def login(client: Client, name: str) -> None:
    client.force_login(User.objects.get(username=name))


# Case 6
def test_an_edit_after_approval_voids_it_and_begins_a_new_round(product: Product) -> None:
    proposal = approved(product)
    first = proposal.revision_digest
    revised(proposal, contract={**document(2)["contract"], "deadline_ms": 1600})
    with pytest.raises(Conflict) as refused:
        publish(actor("dee"), proposal)
    assert refused.value.code == "approval_stale"
    proposal.refresh_from_db()
    assert (proposal.state, proposal.round) == (ProposalState.DRAFT, 2)
    assert [(vote.round, vote.void) for vote in proposal.votes.all()] == [(1, True), (1, True)]
    again = submit(actor("ana"), proposal)
    assert again.state == ProposalState.IN_REVIEW
    assert again.revision_digest != first
    assert Publication.objects.count() == 1
    reopened = AuditEvent.objects.get(action="proposal.reopen")
    assert (reopened.digest_before, reopened.actor_kind) == (first, "system")


# Case 6
def test_a_vote_that_carries_what_was_there_before_the_edit_is_stale(product: Product) -> None:
    proposal = in_review(product)
    seen = bound_digest(proposal)
    revised(proposal, contract={**document(2)["contract"], "deadline_ms": 1600})
    for _ in range(2):  # the second time it is a draft already
        with pytest.raises(Conflict) as refused:
            vote(actor("ben"), proposal, Choice.APPROVE, "fine", seen)
        assert refused.value.code == "approval_stale"
        proposal.refresh_from_db()
    submit(actor("ana"), proposal)
    with pytest.raises(Conflict) as refused:
        vote(actor("ben"), proposal, Choice.APPROVE, "fine", seen)
    assert refused.value.code == "approval_stale"
    assert not Vote.objects.exists()


def test_the_tick_voids_an_approval_whose_document_was_edited(product: Product) -> None:
    proposal = approved(product)
    revised(proposal, overload=["reject_infeasible"])
    reconcile(product.pk, timezone.now())
    proposal.refresh_from_db()
    assert proposal.state == ProposalState.DRAFT


def test_evidence_that_arrives_after_submission_voids_the_votes(product: Product) -> None:
    proposal = approved(product)
    model = document_of(proposal.revision_digest).models["compact"]
    cell = {
        "kind": "frozen_suite",
        "suite": "late",
        "suite_version": "1",
        "route": "compact",
        "manifest": manifest_digest(model),
        "n": 100,
        "mean": 0.5,
        "spread": 0.1,
    }
    push_evidence(SYSTEM_ACTOR, product, cell)
    with pytest.raises(Conflict, match="Evidence arrived"):
        publish(actor("dee"), proposal)


def test_who_decides_sees_what_is_in_force_and_what_it_replaced_apart(product: Product) -> None:
    proposal = in_review(product)
    model = document_of(proposal.revision_digest).models["compact"]
    cell = {"kind": "frozen_suite", "suite": "late", "route": "compact", "spread": 0.1, "n": 100}
    for version, mean in (("1", 0.512), ("2", 0.634)):
        told = {"suite_version": version, "mean": mean, "manifest": manifest_digest(model)}
        push_evidence(SYSTEM_ACTOR, product, cell | told)
    bound = bound_digest(proposal)
    found = review(actor("dee"), proposal)
    assert 0.634 in [row.mean for row in found.evidence]
    assert [(row.mean, why) for row, why in found.superseded] == [
        (0.512, "superseded by a later push")
    ]
    assert bound_digest(proposal) == bound
    client = Client()
    login(client, "dee")
    text = client.get(reverse("releases:proposal", args=[SLUG, proposal.pk])).content.decode()
    assert "Superseded, for the record (1)" in text
    assert text.index("0.634") < text.index("Superseded, for the record") < text.index("0.512")


# Case 7
def test_a_stale_base_is_refused_and_reverts_nothing(product: Product) -> None:
    eighth = approved(product)
    ninth = approved(product, publish="manual")  # other content, from the same base
    assert eighth.base_digest == ninth.base_digest
    publish(actor("dee"), eighth)
    with pytest.raises(Conflict) as refused:
        publish(actor("dee"), ninth)
    assert refused.value.code == "base_changed"
    newest = Publication.objects.latest("number")
    assert (newest.number, newest.candidate_digest) == (2, eighth.revision_digest)
    ninth.refresh_from_db()
    assert ninth.state == ProposalState.APPROVED


def test_the_author_is_refused_by_page_and_by_api(client: Client, product: Product) -> None:
    proposal = in_review(product, author="ben")
    login(client, "ben")
    bound = bound_digest(proposal)
    page = reverse("releases:proposal", args=[SLUG, proposal.pk])
    shown = client.get(page).content.decode()
    assert "You are the author of this proposal" in shown
    assert 'value="approve"' not in shown
    form = {"decision": "approve", "reason": "mine", "bound_digest": bound}
    assert client.post(f"{page}vote", form).status_code == 403
    answer = post(client, f"/proposals/{proposal.pk}/vote", form)
    assert (answer.status_code, answer.json()["code"]) == (403, "own_proposal")
    assert not Vote.objects.exists()


def test_a_co_editor_does_not_decide(product: Product) -> None:
    proposal = drafted(product)
    latest = Revision.objects.filter(generation=proposal.generation).latest("number")
    from policies.services import revise

    revise(actor("ben"), proposal.generation, document(2, publish="manual"), latest.number)
    submit(actor("ana"), proposal)
    with pytest.raises(Forbidden, match="co-editor"):
        approve("ben", proposal)
    assert approve("cho", proposal).state == ProposalState.IN_REVIEW


def test_the_owner_of_the_token_that_proposed_does_not_decide(
    client: Client, product: Product
) -> None:
    ben = User.objects.get(username="ben")
    _, token = issue_credential(SYSTEM_ACTOR, kind="ci", name="ci", product_slug=SLUG, owner=ben)
    draft_generation(actor("ana"), product, document(2), "by hand")
    bearer = {"Authorization": f"Bearer {token}"}
    body = {"generation": 2, "title": "from CI"}
    made = post(client, f"/products/{SLUG}/proposals", body, **bearer)
    assert made.status_code == 201
    pk = made.json()["id"]
    seen = {"expected_version": made.json()["version"]}
    assert post(client, f"/proposals/{pk}/submit", seen, **bearer).status_code == 200
    proposal = Proposal.objects.get(pk=pk)
    with pytest.raises(Forbidden, match="service token"):
        approve("ben", proposal)
    form = {"decision": "approve", "reason": "me", "bound_digest": bound_digest(proposal)}
    assert post(client, f"/proposals/{pk}/vote", form, **bearer).status_code == 403


def test_a_person_fills_one_slot_whatever_roles_are_held(product: Product) -> None:
    grant(SYSTEM_ACTOR, User.objects.get(username="ben"), Role.SRE, EVERY_PRODUCT)
    proposal = in_review(product)
    assert proposal.required == {"product_owner": 1, "sre": 1}
    assert approve("ben", proposal).state == ProposalState.IN_REVIEW
    with pytest.raises(Conflict) as refused:
        approve("ben", proposal)
    assert refused.value.code == "already_voted"


def test_an_approver_who_lost_the_role_no_longer_carries_the_publication(
    product: Product,
) -> None:
    proposal = approved(product)
    Grant.objects.filter(user__username="ben").delete()
    with pytest.raises(Conflict) as refused:
        publish(actor("dee"), proposal)
    assert refused.value.code == "approval_lapsed"


def test_a_rejection_needs_a_reason_and_ends_the_proposal(product: Product) -> None:
    proposal = in_review(product)
    bound = bound_digest(proposal)
    with pytest.raises(Exception, match="reason"):
        vote(actor("ben"), proposal, Choice.REJECT, "  ", bound)
    rejected = vote(actor("ben"), proposal, Choice.REJECT, "premium loses", bound)
    assert rejected.state == ProposalState.REJECTED
    acts = AuditEvent.objects.filter(object_type="proposal", actor="ben").order_by("id")
    assert [act.action for act in acts] == ["proposal.vote", "proposal.reject"]


def test_the_last_approval_publishes_where_the_live_policy_says_so(
    people: dict[str, User],
) -> None:
    from policies.services import create_product
    from releases.services.publish import bootstrap

    product = create_product(SYSTEM_ACTOR, SLUG, "Demo", document=document(1, publish="automatic"))
    bootstrap(SYSTEM_ACTOR, product, Revision.objects.get(), "the beginning")
    assert approved(product).state == ProposalState.PUBLISHED


def test_a_document_with_an_error_is_not_reviewed(product: Product) -> None:
    proposal = drafted(product, stages=[{"canary": 0.5, "hold": "20s"}])
    with pytest.raises(Invalid) as refused:
        submit(actor("ana"), proposal)
    codes = [error["code"] for error in refused.value.extra["errors"]]
    assert "rollout_never_whole" in codes


def test_one_generation_has_one_open_proposal(product: Product) -> None:
    proposal = drafted(product)
    with pytest.raises(Conflict) as refused:
        propose(actor("ana"), product, proposal.generation.number, "again")
    assert refused.value.code == "already_proposed"


def test_an_earlier_decision_says_that_it_was_superseded(product: Product) -> None:
    from releases.models import Rollout
    from releases.states import RolloutState

    first = published(product).proposal
    Rollout.objects.update(state=RolloutState.COMPLETED)
    second = in_review(product, publish="manual")  # touches the rollout alone: capacity decides
    publish(actor("dee"), approve("dee", second))
    first.refresh_from_db()
    assert first.state == ProposalState.SUPERSEDED


def test_evidence_that_is_no_worse_leaves_the_votes_as_they_are(product: Product) -> None:
    proposal = drafted(product)
    model = document_of(proposal.revision_digest).models["compact"]
    cell = {"kind": "frozen_suite", "suite": "late", "route": "compact", "spread": 0.1, "n": 100}
    told = cell | {"mean": 0.95, "manifest": manifest_digest(model)}
    push_evidence(SYSTEM_ACTOR, product, told | {"suite_version": "1"})
    submit(actor("ana"), proposal)
    approve("ben", proposal)
    approve("dee", proposal)
    push_evidence(SYSTEM_ACTOR, product, told | {"suite_version": "2", "mean": 0.96})
    reconcile(product.pk, timezone.now())
    proposal.refresh_from_db()
    assert (proposal.state, proposal.round) == (ProposalState.APPROVED, 1)
    push_evidence(SYSTEM_ACTOR, product, told | {"suite_version": "3", "mean": 0.94})
    reconcile(product.pk, timezone.now())
    proposal.refresh_from_db()
    assert (proposal.state, proposal.round) == (ProposalState.DRAFT, 2)
    assert "late 3 on compact" in proposal.returned_why
