"""Every question of a review has a computed answer; what a policy requires stops by its name."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, User
from controlplane.errors import Conflict
from ingest.models import Source, Trial
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.trial_evidence import Fact
from policies.models import Product, Revision
from policies.selectors import document_of
from policies.services import create_product
from releases.models import Proposal
from releases.selectors.card import QUESTIONS, Card, Standing, review_card
from releases.selectors.trade import sentence
from releases.services.binding import bound_digest
from releases.services.publish import bootstrap
from releases.services.review import vote
from releases.states import Choice
from tests.releases.releases_cast import SLUG, actor, approve, document, drafted, in_review

STRICT = ["warm_trial", "cold_trial", "segmented_quality"]


def card_of(proposal: Proposal) -> Card:
    proposal.refresh_from_db()
    return review_card(proposal, timezone.now())


def strict_product(required: list[str]) -> Product:
    """A live product whose policy requires evidence of its proposals."""
    given = document(1)
    given["approvals"]["evidence_required"] = required
    product = create_product(SYSTEM_ACTOR, SLUG, "Demo", document=given)
    bootstrap(
        SYSTEM_ACTOR, product, Revision.objects.get(generation__product=product), "the beginning"
    )
    return product


def trial(product: Product, proposal: Proposal, regime: str, **facts: str) -> Trial:
    """A complete open-loop trial of the proposal's full model, run warm, cold or both."""
    full = document_of(proposal.revision_digest).models["full"]
    told: dict[str, str] = dict.fromkeys(Fact, "declared")
    told |= {
        Fact.LOOP: "open",
        Fact.RESIDENCY: regime,
        Fact.CACHE: regime,
        Fact.MANIFEST: manifest_digest(full),
    }
    source, _ = Source.objects.get_or_create(product=product, kind="trial", name="lab")
    return Trial.objects.create(
        product=product,
        source=source,
        sha256=f"{Trial.objects.count():064d}",
        format="f",
        tool="generator",
        title=f"A {regime} run",
        told=told | facts,
        points=[{"requests": 5000}],
    )


def test_a_card_answers_every_question_with_a_page_that_proves_it(
    client: Client, product: Product
) -> None:
    proposal = in_review(product)
    card = card_of(proposal)
    assert len(card.answers) == len(QUESTIONS) == 17
    assert len({answer.key for answer in card.answers}) == 17
    client.force_login(User.objects.get(username="eve"))
    for answer in card.answers:
        assert answer.said
        for _, url in answer.links:
            assert client.get(url.partition("#")[0]).status_code == 200, (answer.key, url)


def test_what_nothing_answers_is_missing_by_name(product: Product) -> None:
    card = card_of(in_review(product))
    keys = {answer.key: answer.said for answer in card.missing}
    assert {"burst", "output", "cost", "live_state", "residency"} <= keys.keys()
    for key, name in {
        "live_state": "models.*.kv",
        "residency": "fleet.device_gib",
        "cancellation": "gates.guardrails",
        "burst": "Trials takes one",
    }.items():
        assert name in keys[key]
    assert {"success", "clocks", "quanta", "stops"}.isdisjoint(keys)


def test_who_may_write_the_document_is_led_to_where_it_is_declared(
    client: Client, product: Product
) -> None:
    proposal = in_review(product)
    declare = f"/generations/{proposal.generation.number}/revise"
    for name, led in (("ana", True), ("eve", False)):
        client.force_login(User.objects.get(username=name))
        page = client.get(f"/products/{product.slug}/proposals/{proposal.pk}/").content.decode()
        card = page.partition("Review card")[2].partition("Evidence that a policy")[0]
        assert (declare in card) == led


def test_a_contradiction_of_the_document_wants_a_look(product: Product) -> None:
    card = card_of(in_review(product))
    loads = next(answer for answer in card.answers if answer.key == "loads")
    assert loads.standing in (Standing.ANSWERED, Standing.LOOK)
    over = "over the safe capacity" in loads.said
    assert (loads.standing is Standing.LOOK) == over


def test_without_a_policy_nothing_is_required_and_the_absence_is_told(product: Product) -> None:
    proposal = in_review(product)
    card = card_of(proposal)
    assert card.blockers == []
    assert {proof.name for proof in card.absent} >= {"warm_trial", "cold_trial"}
    assert approve("ben", proposal).state == "in_review"


def test_what_the_live_policy_requires_stops_an_approval_by_name_and_no_rejection(
    client: Client, people: dict[str, User]
) -> None:
    product = strict_product(STRICT)
    # Its own document asks for nothing: no document lowers the rules of its own change.
    proposal = in_review(product)
    with pytest.raises(Conflict) as refused:
        approve("ben", proposal)
    assert refused.value.code == "evidence_missing"
    assert "a warm trial, a cold trial, quality by segment" in str(refused.value.detail)
    client.force_login(people["ben"])
    page = client.get(reverse("releases:proposal", args=[SLUG, proposal.pk])).content.decode()
    assert "missing is a warm trial, a cold trial, quality by segment" in page
    assert 'value="approve" disabled' in page
    proposal.refresh_from_db()
    seen = bound_digest(proposal)
    assert vote(actor("ben"), proposal, Choice.REJECT, "unproven", seen).state == "rejected"


def test_the_api_refuses_an_unproven_approval_as_the_page_does(
    client: Client, people: dict[str, User]
) -> None:
    proposal = in_review(strict_product(["cold_trial"]))
    told = client.get(f"/api/v1/proposals/{proposal.pk}/card")
    assert told.status_code == 401
    client.force_login(people["ben"])
    signed = client.get(f"/api/v1/proposals/{proposal.pk}").json()["signed"]
    assert signed == sentence(proposal.trade)
    card = client.get(f"/api/v1/proposals/{proposal.pk}/card").json()
    assert card["blockers"] == ["cold_trial"]
    body: dict[str, Any] = {
        "decision": "approve",
        "reason": "go",
        "bound_digest": bound_digest(proposal),
    }
    url = f"/api/v1/proposals/{proposal.pk}/vote"
    answer = client.post(url, body, "application/json", headers={"Idempotency-Key": "one"})
    assert (answer.status_code, answer.json()["code"]) == (409, "evidence_missing")
    assert answer.json()["missing"][0]["name"] == "cold_trial"


def test_trials_of_these_manifests_let_it_be_approved(people: dict[str, User]) -> None:
    product = strict_product(["warm_trial", "cold_trial"])
    proposal = in_review(product)
    trial(product, proposal, "warm")
    assert [proof.name for proof in card_of(proposal).blockers] == ["cold_trial"]
    trial(product, proposal, "cold")
    assert card_of(proposal).blockers == []
    approve("ben", proposal)
    assert proposal.votes.count() == 1


@pytest.mark.parametrize(
    "facts",
    [
        {Fact.LOOP: "closed"},
        {Fact.MANIFEST: "sha256:another"},
        {Fact.COST: ""},
        {Fact.RESIDENCY: "warm"},
    ],
)
def test_a_trial_that_can_not_be_weighed_or_is_of_another_model_is_no_cold_trial(
    people: dict[str, User], facts: dict[str, str]
) -> None:
    product = strict_product(["cold_trial"])
    proposal = in_review(product)
    trial(product, proposal, "cold", **facts)
    assert [proof.name for proof in card_of(proposal).blockers] == ["cold_trial"]


def test_the_vote_says_in_the_audit_trail_what_was_signed(product: Product) -> None:
    proposal = in_review(product)
    approve("ben", proposal)
    proposal.refresh_from_db()
    act = AuditEvent.objects.get(action="proposal.vote")
    assert act.data["signed"] == sentence(proposal.trade)
    assert act.data["signed"].startswith("nothing measured is live: utility")


def test_a_draft_is_told_what_is_live_before_it_is_compared_with_it(product: Product) -> None:
    draft = drafted(product)
    assert draft.base_digest == ""
    said = {answer.key: answer.said for answer in card_of(draft).answers}
    assert "Nothing else is live" not in said["coexist"]
    assert "when it is submitted" in said["truncation"]
    assert "when it is submitted" in said["cost"]
