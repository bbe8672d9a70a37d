"""A text that was begun before something else became live takes nothing of that back unseen."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from policies.models import Generation, Product, Revision
from policies.selectors import difference, document_of
from policies.services import draft_generation, revise
from releases.models import Notice, Proposal
from releases.services.binding import current_revision
from releases.services.notices import gather
from releases.services.propose import propose, submit, withdraw
from releases.services.publish import publish
from releases.services.rebase import rebase, rebased
from releases.services.reconcile import reconcile
from releases.services.rollback import roll_back
from releases.services.schedule import reschedule
from releases.states import ProposalState
from tests.releases.releases_cast import (
    ROLES,
    SLUG,
    actor,
    approve,
    approved,
    at_once,
    document,
    later,
    revised,
)
from tests.releases.test_review_doors import post, signed_in

Door = Callable[[Client, Proposal], tuple[int, str]]


def changed(given: dict[str, Any], **rollout: Any) -> dict[str, Any]:
    """The document with other values in its rollout."""
    return {**copy.deepcopy(given), "rollout": {**given["rollout"], **rollout}}


def begun_from(product: Product, base: Revision | None, **rollout: Any) -> Proposal:
    """A draft that changes its base there; without one, the document that was first live."""
    given = changed(base.document if base else document(1), **rollout)
    revision = draft_generation(actor("ana"), product, given, "Another", base)
    return propose(actor("ana"), product, revision.generation.number, "Another")


def first(product: Product) -> Revision:
    return Revision.objects.get(generation__product=product, generation__number=1, number=1)


def becomes_live(product: Product) -> None:
    """Somebody else's change of the share that has to acknowledge goes out."""
    at_once("dee", begun_from(product, first(product), acknowledged_share=0.8))


def voted(proposal: Proposal) -> Proposal:
    """Whoever is asked approves."""
    for name in ("ben", "dee"):
        if ROLES[name] in proposal.required:
            approve(name, proposal)
    proposal.refresh_from_db()
    return proposal


def by_page(client: Client, proposal: Proposal) -> tuple[int, str]:
    page = reverse("releases:submit", args=[SLUG, proposal.pk])
    answer = client.post(page, {"expected_version": proposal.version})
    return answer.status_code, answer.content.decode()


def by_api(client: Client, proposal: Proposal) -> tuple[int, str]:
    asked = {"expected_version": proposal.version}
    answer = post(client, f"/proposals/{proposal.pk}/submit", asked)
    return answer.status_code, answer.content.decode()


def by_many(client: Client, proposal: Proposal) -> tuple[int, str]:
    asked = {"proposal": proposal.pk, "move": "submit", "expected_version": proposal.version}
    (told,) = post(client, "/proposals/bulk", {"moves": [asked]}).json()["items"]
    return told["status"], str(told)


# Case 7
@pytest.mark.parametrize("door", [by_page, by_api, by_many])
def test_no_door_takes_a_draft_that_fell_behind(product: Product, door: Door) -> None:
    late = begun_from(product, first(product), schedule_grace="2h")
    becomes_live(product)
    ana = signed_in("ana")
    status, said = door(ana, late)
    assert (status, f"orchid proposal rebase {late.pk}" in said) == (409, True)
    page = reverse("releases:proposal", args=[SLUG, late.pk])
    shown = ana.get(page).content.decode()
    assert ("Rebase it" in shown, "Submit for review" in shown) == (True, False)
    rebase(actor("ana"), late)
    late.refresh_from_db()
    assert "Submit for review" in ana.get(page).content.decode()
    status, said = door(ana, late)
    assert status in (200, 302), said
    late.refresh_from_db()
    _holds_both(late)


def _holds_both(proposal: Proposal) -> None:
    rollout = document_of(proposal.revision_digest).rollout
    assert (rollout.schedule_grace, rollout.acknowledged_share) == (2 * 3600 * 1000, 0.8)


# Case 7
def test_an_edit_does_not_make_a_text_new(product: Product) -> None:
    late = voted(submit(actor("ana"), begun_from(product, first(product), schedule_grace="1h")))
    assert late.state == ProposalState.APPROVED
    becomes_live(product)
    text = current_revision(late.generation).document
    revised(late, rollout=changed(text, schedule_grace="2h")["rollout"])
    reconcile(product.pk, later(0))
    late.refresh_from_db()
    status, said = by_api(signed_in("ana"), late)
    assert (status, "base_changed" in said) == (409, True)
    _holds_both(submit(actor("ana"), rebase(actor("ana"), late)))


def test_a_draft_of_a_draft_rests_on_what_the_first_does(product: Product) -> None:
    earlier = begun_from(product, first(product), schedule_grace="2h")
    late = begun_from(product, current_revision(earlier.generation), on_breach="pause")
    assert not rebased(late).is_due
    becomes_live(product)
    late = submit(actor("ana"), rebase(actor("ana"), late))
    assert late.state == ProposalState.IN_REVIEW
    _holds_both(late)


def test_what_was_stopped_on_its_way_is_mended_and_asked_for_again(product: Product) -> None:
    stopped = begun_from(product, first(product), schedule_grace="2h")
    publish(actor("dee"), voted(submit(actor("ana"), stopped)))
    text = current_revision(stopped.generation)
    roll_back(actor("dee"), product, "it was worse")
    mended = begun_from(product, text, acknowledged_share=0.8)
    _holds_both(submit(actor("ana"), mended))


def test_a_text_of_which_nobody_knows_where_it_began_is_compared_with_what_is_live(
    product: Product,
) -> None:
    late = begun_from(product, None, schedule_grace="2h")
    becomes_live(product)
    assert submit(actor("ana"), late).state == ProposalState.IN_REVIEW


def test_what_was_taken_back_is_not_what_the_next_round_rests_on(product: Product) -> None:
    """Submitted beside a candidate, and returned when that was taken back."""
    publish(actor("dee"), approved(product))
    candidate = current_revision(Proposal.objects.get().generation)
    late = submit(actor("ana"), begun_from(product, candidate, schedule_grace="2h"))
    roll_back(actor("dee"), product, "it was worse")
    revised(late, rollout=changed(candidate.document, schedule_grace="3h")["rollout"])
    reconcile(product.pk, later(0))
    late.refresh_from_db()
    status, said = by_api(signed_in("ana"), late)
    assert (status, "base_changed" in said) == (409, True)
    kept = submit(actor("ana"), rebase(actor("ana"), late))
    assert [one.pointer for one in difference(first(product).digest, kept.revision_digest)] == [
        "/rollout/schedule_grace"
    ]


# Case 7
def test_a_live_text_that_is_edited_under_its_own_number_rests_on_itself(product: Product) -> None:
    """Whether it began the product or came from another, until something else becomes live."""
    for live in (first, _edited_live):
        edited = _edit(live(product).generation, "2h")
        assert not rebased(edited).is_due
        withdraw(actor("ana"), edited, "later")
    late = _edit(first(product).generation, "3h")
    status, said = by_api(signed_in("ana"), late)
    assert (status, "base_changed" in said) == (409, True)


def test_a_text_that_was_taken_back_is_mended_under_its_own_number(product: Product) -> None:
    generation = _edited_live(product).generation
    roll_back(actor("dee"), product, "it was worse")
    _holds_both(submit(actor("ana"), _edit(generation, "2h")))


def _edited_live(product: Product) -> Revision:
    """Somebody else's change, drafted from what was live, is live."""
    becomes_live(product)
    return Revision.objects.latest("pk")


def _edit(generation: Generation, schedule_grace: str) -> Proposal:
    """The next text under that number, proposed anew."""
    latest = current_revision(generation)
    given = changed(latest.document, schedule_grace=schedule_grace)
    revise(actor("ana"), generation, given, latest.number)
    return propose(actor("ana"), generation.product, generation.number, "More of it")


def test_a_time_that_went_by_is_told_with_what_kept_it(product: Product) -> None:
    User.objects.filter(username="dee").update(email="dee@example.com")
    late = begun_from(product, first(product), schedule_grace="2h")
    reschedule(actor("ana"), late, f"{later(7_200):%Y-%m-%dT%H:%M}", "UTC")
    late = voted(submit(actor("ana"), late))
    becomes_live(product)
    gather(product, later(6 * 3_600))
    told = Notice.objects.get(title__endswith="its time went by")
    assert "Rebase it" in told.text
    assert late.state == ProposalState.APPROVED
