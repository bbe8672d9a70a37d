"""A yes that nobody is asked after asks a browser for somebody who showed lately who they are."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.guard import SYSTEM_ACTOR
from accounts.models import User
from policies.models import Product, Revision
from policies.services import create_product
from releases.models import Proposal, Publication, Vote
from releases.services.binding import bound_digest
from releases.services.publish import bootstrap
from releases.states import ProposalState
from tests.releases.releases_cast import SLUG, actor, approve, document, in_review, later


def product_that(publish: str) -> Product:
    given = document(1, publish=publish)
    given["approvals"].pop("evidence_required", None)
    product = create_product(SYSTEM_ACTOR, SLUG, "Demo", document=given)
    bootstrap(SYSTEM_ACTOR, product, Revision.objects.get(), "the beginning")
    return product


def votes(name: str, proposal: Proposal, *, by_page: bool) -> Any:
    client = Client()
    client.force_login(User.objects.get(username=name))
    proposal.refresh_from_db()
    said = {"decision": "approve", "reason": "measured", "bound_digest": bound_digest(proposal)}
    said |= {"expected_version": str(proposal.version)}
    if by_page:
        return client.post(f"/products/{SLUG}/proposals/{proposal.pk}/vote", said)
    return client.post(f"/api/v1/proposals/{proposal.pk}/vote", said, "application/json")


@pytest.mark.parametrize("by_page", [True, False])
def test_the_vote_that_publishes_is_confirmed_as_a_publication_is(
    people: dict[str, User], settings: Settings, by_page: bool
) -> None:
    proposal = in_review(product_that("automatic"))
    fresh, settings.CONFIRMED_FOR_S = settings.CONFIRMED_FOR_S, 0
    first = votes("ben", proposal, by_page=by_page)
    assert first.status_code in (200, 302)  # another one is needed still: it publishes nothing
    assert Vote.objects.count() == 1
    last = votes("dee", proposal, by_page=by_page)
    if by_page:
        assert last.headers["Location"].startswith("/confirm?next=")
    else:
        assert (last.status_code, last.json()["code"]) == (403, "confirmation_needed")
    proposal.refresh_from_db()
    assert (Vote.objects.count(), proposal.state) == (1, ProposalState.IN_REVIEW)
    settings.CONFIRMED_FOR_S = fresh
    votes("dee", proposal, by_page=by_page)
    proposal.refresh_from_db()
    assert (proposal.state, Publication.objects.count()) == (ProposalState.PUBLISHED, 2)


def test_where_a_person_publishes_it_the_last_vote_needs_no_confirmation(
    people: dict[str, User], settings: Settings
) -> None:
    proposal = in_review(product_that("manual"))
    approve("ben", proposal)
    settings.CONFIRMED_FOR_S = 0
    assert votes("dee", proposal, by_page=False).status_code == 200
    proposal.refresh_from_db()
    assert proposal.state == ProposalState.APPROVED


def test_a_vote_for_what_goes_out_at_its_time_is_confirmed(
    people: dict[str, User], settings: Settings
) -> None:
    from releases.services.schedule import reschedule

    proposal = in_review(product_that("manual"))
    reschedule(actor("ana"), proposal, f"{later(86_400):%Y-%m-%dT%H:%M}", "UTC")
    approve("ben", proposal)
    settings.CONFIRMED_FOR_S = 0
    refused = votes("dee", proposal, by_page=False)
    assert (refused.status_code, refused.json()["code"]) == (403, "confirmation_needed")
