"""A proposal has its decision diff asked for by itself, and shows it."""

import pytest
from django.test import Client

from gates.models import DecisionDiff
from gates.services.recorded_diff import compute
from policies.models import Product
from releases.services.binding import reopen_if_moved
from tests.releases.releases_cast import SLUG, drafted, in_review, revised


def page(user: str, proposal: int) -> str:
    from accounts.models import User

    client = Client()
    client.force_login(User.objects.get(username=user))
    return client.get(f"/products/{SLUG}/proposals/{proposal}/").content.decode()


@pytest.mark.django_db
def test_opening_and_submitting_ask_once_against_what_is_live(product: Product) -> None:
    live = str(product.generations.get(number=1).revisions.get().digest)
    proposal = in_review(product)
    row = DecisionDiff.objects.get()
    assert (row.base_digest, row.digest) == (live, proposal.revision_digest)
    assert "Waits for a worker" in page("eve", proposal.pk)
    compute(row.pk)
    text = page("eve", proposal.pk)
    assert "No recorded requests yet" in text
    assert "Compare on recorded traffic" not in text  # eve only reads
    assert "Compare on recorded traffic" in page("ana", proposal.pk)


@pytest.mark.django_db
def test_a_text_that_is_revised_in_review_is_compared_as_it_is_now(product: Product) -> None:
    proposal = in_review(product)
    given = dict(proposal.generation.revisions.latest("number").document)
    admission = {**given["admission"], "max_queued_teu": 1234}
    revision = revised(proposal, admission=admission)
    assert reopen_if_moved(proposal)
    assert DecisionDiff.objects.latest("id").digest == revision.digest


@pytest.mark.django_db
def test_a_draft_that_was_revised_can_be_compared_by_hand(product: Product) -> None:
    proposal = drafted(product)
    given = dict(proposal.generation.revisions.latest("number").document)
    revision = revised(proposal, admission={**given["admission"], "max_queued_teu": 1234})
    text = page("ana", proposal.pk)
    assert "Not compared yet" in text
    assert revision.digest in text
