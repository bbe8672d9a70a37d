"""A change of prices reaches every edge at once, under a number and a tag of its own."""

import copy
from typing import Any

from orchid.engine.wire.bundle import etag_of
from policies.models import Product
from policies.selectors import document_of
from policies.services import draft_generation
from releases.models import Edge, Proposal, Publication, Rollout
from releases.services.issue import latest
from releases.services.propose import propose, submit
from releases.services.publish import publish
from releases.services.reconcile import reconcile
from releases.services.resign import FLEET_SETTLES
from releases.services.rollback import roll_back
from releases.states import ProposalState, PublicationKind
from tests.releases.releases_cast import actor, approve, document, edge, later

DEARER: dict[str, Any] = {
    "full": {"input_usd_per_million": "2.50", "output_usd_per_million": "10"},
}


def newest(product: Product) -> Publication:
    found = latest(product)
    assert found is not None
    return found


def approved(product: Product, **changes: Any) -> Proposal:
    """Generation 1 with other keys, approved by ben, who owns the product."""
    given = {**copy.deepcopy(document(1)), **changes}
    number = draft_generation(actor("ana"), product, given, "New prices").generation.number
    proposal = submit(actor("ana"), propose(actor("ana"), product, number, "New prices", "invoice"))
    return approve("ben", proposal)


def priced(product: Product) -> Publication:
    proposal = publish(actor("ben"), approved(product, prices=DEARER))
    assert proposal.state == ProposalState.PUBLISHED
    return newest(product)


def test_it_is_everybodys_at_once_without_a_rollout(product: Product) -> None:
    before, row = newest(product), priced(product)
    assert (row.number, row.kind) == (before.number + 1, PublicationKind.PRICE_CHANGE)
    assert (row.candidate_digest, row.fraction) == (None, 0.0)
    assert not Rollout.objects.exists()
    assert document_of(row.target_digest).prices["full"].output_usd_per_million == 10


def test_the_edge_is_offered_it_under_a_new_tag(product: Product) -> None:
    before, row = newest(product), priced(product)
    assert row.etag != before.etag
    assert row.etag == etag_of(row.token)


def test_every_change_beside_the_policy_has_a_new_tag(product: Product) -> None:
    tags = {newest(product).etag}
    for name in ("e1", "e2", "e3"):
        edge(product, name)
    assert reconcile(product.pk, later(FLEET_SETTLES.total_seconds()))
    tags.add(newest(product).etag)
    Edge.objects.filter(name="e3").update(share=5.0)
    assert reconcile(product.pk, later(3 * FLEET_SETTLES.total_seconds()))
    tags.add(newest(product).etag)
    assert len(tags) == 3
    assert newest(product).etag == etag_of(newest(product).token)


def test_what_changes_anything_else_as_well_is_rolled_out(product: Product) -> None:
    fleet = {**document(1)["fleet"], "safe_factor": 0.5}
    proposal = approved(product, prices=DEARER, fleet=fleet)
    publish(actor("dee"), approve("dee", proposal))
    assert newest(product).kind == PublicationKind.PUBLISH
    assert Rollout.objects.count() == 1


def test_it_can_be_taken_back(product: Product) -> None:
    before, row = newest(product), priced(product)
    restored, made = roll_back(actor("dee"), product, "the invoice was wrong")
    assert made
    assert restored.number == row.number + 1
    assert restored.incumbent_digest == before.incumbent_digest
