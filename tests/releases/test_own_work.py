"""Whoever had a hand in a change decides on it by no door, whatever else they are."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import AuditEvent, User
from accounts.roles import EVERY_PRODUCT, Role
from accounts.services import grant, issue_credential
from policies.models import Product
from policies.services import draft_generation, revise
from releases.models import Proposal, Rollout, SecondLook, Vote
from releases.services import override
from releases.services.binding import bound_digest, current_revision
from releases.services.propose import propose, submit
from releases.services.publish import publish
from releases.services.rebase import rebase
from releases.services.schedule import reschedule
from releases.states import ProposalState
from tests.releases.releases_cast import (
    SLUG,
    actor,
    approve,
    at_once,
    document,
    drafted,
    edge,
    in_review,
    judged,
    later,
)
from tests.releases.stage_cast import activated, candidate_window, fresh, passes
from tests.releases.test_review_doors import post, signed_in

STAGES = [
    {"canary": 0.1, "hold": "20s", "approval": "sre"},
    {"canary": 1.0, "hold": "20s"},
]
Hand = Callable[[Product], Proposal]


def as_author(product: Product) -> Proposal:
    return in_review(product, author="ana", stages=STAGES)


def as_proposer_of_anothers_text(product: Product) -> Proposal:
    text = draft_generation(actor("ben"), product, document(2, stages=STAGES), "by ben")
    return submit(actor("ben"), propose(actor("ana"), product, text.generation.number, "ours"))


def as_writer_of_what_another_proposes(product: Product) -> Proposal:
    text = draft_generation(actor("ana"), product, document(2, stages=STAGES), "by ana")
    return submit(actor("ben"), propose(actor("ben"), product, text.generation.number, "ours"))


def as_co_editor(product: Product) -> Proposal:
    proposal = drafted(product, author="ben", stages=STAGES)
    newest = current_revision(proposal.generation)
    changed = document(2, stages=STAGES, acknowledged_share=0.9)
    revise(actor("ana"), proposal.generation, changed, newest.number)
    return submit(actor("ben"), proposal)


def as_rebaser(product: Product) -> Proposal:
    """Ana brings it up to what became live meanwhile."""
    early = drafted(product, author="ben", acknowledged_share=0.9)
    proposal = in_review(product, author="ben", stages=STAGES)
    at_once("dee", early)
    proposal.refresh_from_db()
    return submit(actor("ben"), rebase(actor("ana"), proposal, {"/rollout/stages": "mine"}))


def as_token_owner(product: Product) -> Proposal:
    draft_generation(actor("ben"), product, document(2, stages=STAGES), "by hand")
    body = {"generation": 2, "title": "from CI"}
    made = post(Client(), f"/products/{SLUG}/proposals", body, **token_of_ana())
    return submit(actor("ben"), Proposal.objects.get(pk=made.json()["id"]))


def as_scheduler(product: Product) -> Proposal:
    """Ana sets a time, and ben lifts it again."""
    proposal = in_review(product, author="ben", stages=STAGES)
    when = {"local": f"{later(86_400):%Y-%m-%dT%H:%M}", "zone": "Europe/Berlin"}
    asked = when | {"expected_version": proposal.version}
    made = post(signed_in("ana"), f"/proposals/{proposal.pk}/schedule", asked)
    assert made.status_code == 200, made.json()
    proposal.refresh_from_db()
    return reschedule(actor("ben"), proposal, "", "", "")


def as_recorder(product: Product) -> Proposal:
    proposal = drafted(product, author="ben", stages=STAGES)
    body = {"expected_revision": 0, "sections": {"rejected": "nothing else was tried"}}
    assert post(signed_in("ana"), f"/proposals/{proposal.pk}/record", body).status_code == 200
    return submit(actor("ben"), proposal)


def token_of_ana() -> dict[str, str]:
    ana = User.objects.get(username="ana")
    _, token = issue_credential(SYSTEM_ACTOR, kind="ci", name="ci", product_slug=SLUG, owner=ana)
    return {"Authorization": f"Bearer {token}"}


HANDS = [
    *[as_author, as_proposer_of_anothers_text, as_writer_of_what_another_proposes, as_co_editor],
    *[as_rebaser, as_token_owner, as_scheduler, as_recorder],
]


@pytest.fixture
def ana(product: Product) -> Client:
    """All roles and a superuser's flags: none of it makes a contributor a judge."""
    User.objects.filter(username="ana").update(is_superuser=True, is_staff=True)
    for role in (Role.PRODUCT_OWNER, Role.SRE):
        grant(SYSTEM_ACTOR, User.objects.get(username="ana"), role, EVERY_PRODUCT)
    return signed_in("ana")


def by_page(client: Client, path: str, form: dict[str, Any]) -> int:
    return client.post(f"/products/{SLUG}/{path}", form).status_code


def by_api(client: Client, path: str, body: dict[str, Any]) -> tuple[int, str]:
    answer = post(client, path, body)
    return answer.status_code, answer.json()["code"]


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_no_vote_is_a_contributors(
    product: Product, ana: Client, hand: Hand, decision: str
) -> None:
    proposal = hand(product)
    form = ballot(proposal) | {"decision": decision}
    page = f"proposals/{proposal.pk}/"
    shown = ana.get(f"/products/{SLUG}/{page}").content.decode()
    assert f'value="{decision}"' not in shown
    assert by_page(ana, f"{page}vote", form) == 403
    assert by_api(ana, f"/proposals/{proposal.pk}/vote", form) == (403, "own_proposal")
    (outcome,) = moved_in_bulk(ana, proposal, decision)
    assert (outcome["status"], outcome["code"]) == (403, "own_proposal")
    assert not Vote.objects.filter(proposal=proposal).exists()
    proposal.refresh_from_db()
    assert proposal.state == ProposalState.IN_REVIEW


def ballot(proposal: Proposal) -> dict[str, Any]:
    said = {"decision": "approve", "reason": "mine is good"}
    return said | {"bound_digest": bound_digest(proposal)}


def moved_in_bulk(client: Client, proposal: Proposal, move: str, **headers: str) -> Any:
    asked = ballot(proposal) | {"proposal": proposal.pk, "move": move}
    return post(client, "/proposals/bulk", {"moves": [asked]}, **headers).json()["items"]


@pytest.mark.parametrize("hand", HANDS)
def test_no_stage_override_or_look_is_a_contributors(
    product: Product, ana: Client, hand: Hand
) -> None:
    rollout = live_at_its_first_stage(product, hand(product))
    refused_at_the_stage(ana, rollout)
    refused_at_an_override(ana, rollout)


def live_at_its_first_stage(product: Product, proposal: Proposal) -> Rollout:
    for role, name in ((Role.PRODUCT_OWNER, "cho"), (Role.SRE, "dee")):
        if role in proposal.required:
            proposal = approve(name, proposal)
    gateway = edge(product, "edge-1")
    publish(actor("dee"), proposal)
    rollout = Rollout.objects.latest("id")
    Rollout.objects.filter(pk=rollout.pk).update(created_at=later(-900))
    return activated(rollout, gateway, later(-600))


def refused_at_the_stage(ana: Client, rollout: Rollout) -> None:
    passes(rollout)
    version = {"expected_version": fresh(rollout).version, "reason": "mine is fine"}
    acts = AuditEvent.objects.count()
    assert by_page(ana, f"rollout/{rollout.pk}/approve", version) == 403
    assert by_api(ana, f"/rollouts/{rollout.pk}/approve", version) == (403, "own_proposal")
    assert (AuditEvent.objects.count(), rollout.approvals.count()) == (acts, 0)


def refused_at_an_override(ana: Client, rollout: Rollout) -> None:
    judgement = judged(candidate_window(rollout), "inconclusive", timezone.now())
    asked = override.ask(actor("cho"), fresh(rollout), judgement.pk, "the night is quiet")
    version, acts = {"expected_version": asked.version}, AuditEvent.objects.count()
    assert by_page(ana, f"overrides/{asked.pk}/confirm", version) == 403
    assert by_api(ana, f"/overrides/{asked.pk}/confirm", version) == (403, "own_proposal")
    assert AuditEvent.objects.count() == acts
    override.confirm(actor("dee"), asked)  # whom nothing keeps


@pytest.mark.parametrize("hand", HANDS)
def test_no_second_look_is_a_contributors(product: Product, ana: Client, hand: Hand) -> None:
    at_once("dee", hand(product), "the live one leaks")
    look = SecondLook.objects.latest("pk")
    said = {"expected_version": look.version, "reason": "mine is fine"}
    acts = AuditEvent.objects.count()
    for move in ("confirm", "revert"):
        assert by_page(ana, f"second-looks/{look.pk}/{move}", said) == 403
        assert by_api(ana, f"/second-looks/{look.pk}/{move}", said) == (403, "own_act")
    look.refresh_from_db()
    assert (look.state, AuditEvent.objects.count()) == ("open", acts)


def test_no_token_votes_whoever_owns_it(product: Product, ana: Client) -> None:
    proposal, bearer = in_review(product, author="ben"), token_of_ana()
    answer = post(Client(), f"/proposals/{proposal.pk}/vote", ballot(proposal), **bearer)
    (outcome,) = moved_in_bulk(Client(), proposal, "approve", **bearer)
    assert (answer.status_code, outcome["status"]) == (403, 403)
    assert not Vote.objects.exists()


def test_a_superuser_without_a_role_decides_nothing(product: Product) -> None:
    proposal = in_review(product)
    User.objects.create_superuser("root")
    root = signed_in("root")
    assert by_page(root, f"proposals/{proposal.pk}/vote", ballot(proposal)) == 404
    assert by_api(root, f"/proposals/{proposal.pk}/vote", ballot(proposal)) == (404, "not_found")
    (outcome,) = moved_in_bulk(root, proposal, "approve")
    assert (outcome["status"], outcome["code"]) == (404, "not_found")
    assert not Vote.objects.exists()
