"""The doors around the votes: what is caught, told and kept by each."""

import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import Resolver404, resolve, reverse

from accounts.guard import SYSTEM_ACTOR, actor_of
from accounts.models import AuditEvent, Credential, Grant, User
from accounts.services import issue_credential
from controlplane.errors import Conflict, Forbidden
from policies.models import Product
from policies.selectors import document_of, given_of
from policies.services import draft_generation, revise
from releases.models import Comment, Proposal, Publication, SecondLook, Vote
from releases.services.binding import bound_digest, current_revision
from releases.services.propose import propose, submit
from releases.services.publish import publish
from releases.services.rebase import rebase, rebased
from releases.states import ProposalState
from tests.releases.releases_cast import (
    SLUG,
    actor,
    approve,
    approved,
    document,
    drafted,
    in_review,
    revised,
)


def post(client: Client, path: str, body: dict[str, Any], **headers: str) -> Any:
    return client.post(
        f"/api/v1{path}", json.dumps(body), content_type="application/json", headers=headers
    )


def signed_in(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


@pytest.mark.parametrize("path", ["/admin/", "/admin/releases/vote/add/", "/django-admin/"])
def test_there_is_no_other_door_to_the_tables(path: str) -> None:
    with pytest.raises(Resolver404):
        resolve(path)


def test_the_owner_of_a_token_is_barred_when_the_token_edits_later(product: Product) -> None:
    ben = User.objects.get(username="ben")
    credential, _token = issue_credential(
        SYSTEM_ACTOR, kind="ci", name="ci", product_slug=SLUG, owner=ben
    )
    proposal = drafted(product)
    latest = current_revision(proposal.generation)
    machine = actor_of(type("Request", (), {"auth": Credential.objects.get(pk=credential.pk)})())
    revise(machine, proposal.generation, document(2, acknowledged_share=0.9), latest.number)
    submit(actor("ana"), proposal)
    with pytest.raises(Forbidden, match="service token"):
        approve("ben", proposal)


def test_who_approves_and_edits_afterwards_approves_no_more_though_the_text_is_as_it_was(
    product: Product,
) -> None:
    proposal = approved(product)
    first = current_revision(proposal.generation)
    other = {**first.document, "revisit": []}
    second = revise(actor("ben"), proposal.generation, other, first.number)
    again = revise(actor("ben"), proposal.generation, first.document, second.number)
    assert again.digest == proposal.revision_digest
    proposal.refresh_from_db()
    with pytest.raises(Conflict, match="ben approved it and had a hand") as refused:
        publish(actor("dee"), proposal)
    assert refused.value.code == "approval_stale"
    assert Publication.objects.count() == 1


def test_a_role_that_is_lost_between_vote_and_publication_is_caught_by_every_door(
    product: Product,
) -> None:
    proposal = approved(product)
    Grant.objects.filter(user__username="ben").delete()
    client = signed_in("dee")
    body = {"expected_version": Proposal.objects.get(pk=proposal.pk).version}
    asked = {"proposal": proposal.pk, "move": "publish", **body}
    (outcome,) = post(client, "/proposals/bulk", {"moves": [asked]}).json()["items"]
    assert outcome["code"] == "approval_lapsed"
    page = reverse("releases:proposal", args=[SLUG, proposal.pk])
    assert "no longer holds the role" in client.get(page).content.decode()
    answer = post(client, f"/proposals/{proposal.pk}/publish", body)
    assert (answer.status_code, answer.json()["code"]) == (409, "approval_lapsed")
    assert client.post(f"{page}publish", body).status_code == 409
    assert "no longer holds the role" in client.get(page).content.decode()
    assert Publication.objects.count() == 1


def test_each_of_several_moves_is_answered_by_itself(product: Product) -> None:
    first, second = in_review(product), in_review(product, publish="manual")
    moves = [
        {
            "proposal": first.pk,
            "move": "reject",
            "reason": "premium loses",
            "bound_digest": bound_digest(first),
        },
        {"proposal": second.pk, "move": "withdraw", "expected_version": 1},
        {"proposal": 999, "move": "publish", "expected_version": 1},
    ]
    key = {"Idempotency-Key": "several"}
    answer = post(signed_in("ben"), "/proposals/bulk", {"moves": moves}, **key)
    items = answer.json()["items"]
    assert [(item["status"], item["code"]) for item in items] == [
        (200, None),
        (409, "version_changed"),
        (404, "not_found"),
    ]
    assert items[0]["state"] == "rejected"
    again = post(signed_in("ben"), "/proposals/bulk", {"moves": moves}, **key)
    assert (again.json(), again.headers["Idempotency-Replayed"]) == (answer.json(), "true")
    assert Vote.objects.count() == 1


def test_the_list_is_narrowed_to_a_state(product: Product) -> None:
    waiting = in_review(product)
    drafted(product, publish="manual")
    client = signed_in("ben")
    found = client.get(f"/api/v1/products/{SLUG}/proposals?state=in_review").json()["items"]
    assert [item["id"] for item in found] == [waiting.pk]
    answer = client.get("/api/v1/proposals?state=waiting")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_state")


def test_ci_reads_what_keeps_an_approved_proposal(product: Product) -> None:
    late = approved(product, publish="manual")
    publish(actor("dee"), approved(product))
    told = signed_in("ana").get(f"/api/v1/proposals/{late.pk}").json()
    assert {"base_changed", "rollout_open"} <= {one["code"] for one in told["hindrances"]}
    assert told["expires_at"] is not None


def test_ci_sets_a_time_and_is_told_what_is_wrong_with_it(product: Product) -> None:
    proposal = drafted(product)
    client, path = signed_in("ana"), f"/proposals/{proposal.pk}/schedule"
    twice = {"local": "2027-10-31T02:30", "zone": "Europe/Berlin", "expected_version": 1}
    answer = post(client, path, twice)
    assert (answer.status_code, answer.json()["code"]) == (422, "time_comes_twice")
    told = post(client, path, {**twice, "which": "second"}).json()
    assert told["publish_at"] == "2027-10-31T01:30:00Z"
    assert (told["publish_local"], told["publish_zone"]) == ("2027-10-31T02:30", "Europe/Berlin")
    stale = post(client, path, {**twice, "which": "first"})
    assert (stale.status_code, stale.json()["code"]) == (409, "version_changed")


def test_what_was_said_stays_and_decides_nothing(product: Product) -> None:
    proposal = in_review(product)
    bound = bound_digest(proposal)
    made = post(signed_in("cho"), f"/proposals/{proposal.pk}/comments", {"text": " why 1,600? "})
    assert (made.status_code, made.json()["text"]) == (201, "why 1,600?")
    page = reverse("releases:proposal", args=[SLUG, proposal.pk])
    assert signed_in("ana").post(f"{page}comments", {"text": "<b>measured</b>"}).status_code == 302
    shown = signed_in("eve").get(page).content.decode()
    assert shown.index("why 1,600?") < shown.index("&lt;b&gt;measured&lt;/b&gt;")
    assert (
        post(signed_in("eve"), f"/proposals/{proposal.pk}/comments", {"text": "x"}).status_code
        == 403
    )
    proposal.refresh_from_db()
    assert bound_digest(proposal) == bound
    with pytest.raises(Exception, match="never change"):
        Comment.objects.update(text="nothing")


# Case 7
def test_a_rebase_takes_what_became_live_and_asks_where_both_changed(product: Product) -> None:
    late = drafted(product)
    revised(late, contract={**document(2)["contract"], "deadline_ms": 1600})
    submit(actor("ana"), late)
    for name in ("ben", "dee"):
        late = approve(name, late)
    early = _early(product, given_of(late.base_digest))
    publish(actor("dee"), early)
    view = rebased(late)
    pointers = [one.pointer for one in view.merged.open]
    assert pointers == ["/contract/deadline_ms"]
    with pytest.raises(Conflict) as refused:
        rebase(actor("ana"), late)
    assert refused.value.code == "rebase_collisions"
    late.refresh_from_db()
    assert (late.state, late.round) == (ProposalState.APPROVED, 1)
    done = rebase(actor("ana"), late, {pointers[0]: "theirs"})
    assert (done.state, done.round) == (ProposalState.DRAFT, 2)
    assert all(one.void and "rebased" in one.void_why for one in done.votes.all())
    merged = document_of(done.revision_digest)
    assert merged.contract.deadline_ms == 1400
    assert merged.rollout.acknowledged_share == 0.8  # of what became live, and in no collision
    assert done.base_digest == early.revision_digest


def _early(product: Product, base: dict[str, Any]) -> Proposal:
    given = {**base, "contract": {**base["contract"], "deadline_ms": 1400}}
    given["rollout"] = {**base["rollout"], "acknowledged_share": 0.8}
    revision = draft_generation(actor("ana"), product, given, "Early")
    proposal = propose(actor("ana"), product, revision.generation.number, "Early")
    submit(actor("ana"), proposal)
    for name in ("ben", "dee"):
        proposal.refresh_from_db()
        if proposal.state == ProposalState.IN_REVIEW:
            approve(name, proposal)
    proposal.refresh_from_db()
    return proposal


def test_the_pages_of_a_rebase_show_three_sides(product: Product) -> None:
    late = drafted(product)
    revised(late, contract={**document(2)["contract"], "deadline_ms": 1600})
    submit(actor("ana"), late)
    early = _early(product, given_of(Publication.objects.get().incumbent_digest))
    publish(actor("dee"), early)
    page = reverse("releases:rebase", args=[SLUG, late.pk])
    client = signed_in("ana")
    shown = client.get(page).content.decode()
    assert "/contract/deadline_ms" in shown
    assert 'value="theirs"' in shown
    late.refresh_from_db()
    form = {"expected_version": late.version, "side:/contract/deadline_ms": "mine"}
    assert client.post(page, form).status_code == 302
    late.refresh_from_db()
    assert document_of(late.revision_digest).contract.deadline_ms == 1600
    assert (late.state, late.base_digest) == (ProposalState.DRAFT, early.revision_digest)
    shown = client.get(reverse("releases:proposal", args=[SLUG, late.pk])).content.decode()
    assert "It was rebased on publication 2" in shown


def test_by_pages_and_api_an_emergency_is_acted_and_looked_at(product: Product) -> None:
    dee, cho = signed_in("dee"), signed_in("cho")
    asked = {"tenant": "acme", "window": "10s", "max_teu": 400, "reason": "it takes all"}
    made = post(dee, f"/products/{SLUG}/emergency-caps", asked, **{"Idempotency-Key": "cap"})
    assert (made.status_code, made.json()["state"]) == (201, "published"), made.json()
    post(dee, f"/products/{SLUG}/emergency-caps", asked, **{"Idempotency-Key": "cap"})
    (look,) = cho.get(f"/api/v1/products/{SLUG}/second-looks").json()["items"]
    assert (look["state"], look["kind"], look["publication"]) == ("open", "emergency_cap", 2)
    overview = reverse("releases:overview", args=[SLUG])
    assert "Waits for a second look" in cho.get(overview).content.decode()
    own = {"reason": "mine", "expected_version": look["version"]}
    refused = post(dee, f"/second-looks/{look['id']}/confirm", own)
    assert (refused.status_code, refused.json()["code"]) == (403, "own_act")
    page = reverse("releases:second-looks", args=[SLUG])
    assert "You had a hand" in dee.get(page).content.decode()
    assert "It stands" in cho.get(page).content.decode()
    form = {"expected_version": look["version"], "reason": "acme pays for it"}
    assert (
        cho.post(reverse("releases:revert-look", args=[SLUG, look["id"]]), form).status_code == 302
    )
    assert Publication.objects.latest("number").kind == "rollback"
    assert "acme pays for it" in dee.get(page).content.decode()


def test_the_page_of_emergencies_publishes_and_caps(product: Product) -> None:
    dee = signed_in("dee")
    proposal = in_review(product)
    page = reverse("releases:emergency", args=[SLUG])
    chosen = f"{page}?proposal={proposal.pk}"
    asked = dee.get(chosen).content.decode()
    assert f'<option value="{proposal.pk}" selected>' in asked
    assert '<option value="15m">15 min</option>' in asked
    form = {"tenant": "acme", "window": "1h", "limit": "max_usd", "amount": "5", "reason": "now"}
    assert dee.post(f"{page}cap", form).status_code == 302
    held = given_of(Publication.objects.latest("number").incumbent_digest)["budgets"]
    assert {"tenant": "acme", "window": 3_600_000, "max_usd": "5"} in held
    shown = dee.get(chosen).content.decode()
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', shown))
    done = dee.post(f"{page}publish", hidden | {"reason": "and this"})
    assert done.status_code == 302
    assert SecondLook.objects.count() == 2
    for name in ("ben", "ana"):
        assert signed_in(name).get(page).status_code == 403


WHOLE = ("max_teu", "max_live_token_ms", "max_output_tokens", "max_external_calls")


@pytest.mark.parametrize("limit", WHOLE)
def test_a_fraction_of_what_is_counted_in_whole_numbers_caps_nobody(
    product: Product, limit: str
) -> None:
    dee, page = signed_in("dee"), reverse("releases:cap", args=[SLUG])
    asked = {"tenant": "acme", "window": "1h", "reason": "now"}
    typed = dee.post(page, asked | {"limit": limit, "amount": "1.5"})
    assert typed.status_code == 400
    shown = typed.content.decode()
    assert "is a whole number, not 1.5. Only dollars" in shown
    assert all(f'value="{kept}"' in shown for kept in ("acme", "1.5"))  # nobody types it twice
    assert f'value="{limit}" selected' in shown
    for amount in (1.5, "1.5"):
        answer = post(dee, f"/products/{SLUG}/emergency-caps", asked | {limit: amount})
        assert (answer.status_code, list(answer.json()["errors"])) == (400, [limit])
    assert Publication.objects.count() == 1
    assert dee.post(page, asked | {"limit": limit, "amount": "2.0"}).status_code == 302


def test_what_was_voided_says_why_on_the_page(product: Product) -> None:
    proposal = approved(product)
    revised(proposal, overload=["reject_infeasible"])
    with pytest.raises(Conflict):
        publish(actor("dee"), proposal)
    shown = signed_in("ben").get(reverse("releases:proposal", args=[SLUG, proposal.pk]))
    text = shown.content.decode()
    assert text.count("Void: The document was edited after it was submitted.") == 2
    assert "Earlier votes are void. Submit it for round 2" in text
    assert AuditEvent.objects.get(action="proposal.reopen").data["voided_votes"] == 2


def test_every_page_of_a_proposal_reads_without_a_role_to_act(product: Product) -> None:
    proposal = approved(product)
    eve = signed_in("eve")
    text = eve.get(reverse("releases:proposal", args=[SLUG, proposal.pk])).content.decode()
    assert "Set a time" not in text
    assert "Publish in an emergency" not in text
    listed = eve.get(
        reverse("releases:proposals", args=[SLUG]) + "?state=approved"
    ).content.decode()
    assert "Serve cheaper" in listed
