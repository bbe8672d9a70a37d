"""A hand and the clock, or two second looks, at the same moment: real connections, one winner."""

import pytest

from accounts.models import AuditEvent
from policies.models import Product
from releases.models import Proposal, Publication, SecondLook
from releases.services.cap import cap_tenant
from releases.services.propose import submit
from releases.services.publish import publish
from releases.services.reconcile import reconcile
from releases.services.schedule import reschedule
from releases.services.second_look import confirm, revert
from tests.releases.releases_cast import actor, approve, cast, drafted, later, live_product
from tests.releases.test_at_once import refusals, together

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shared() -> Product:
    """A product that other connections see."""
    cast()
    return live_product()


# Case 7
def test_a_hand_and_the_clock_publish_a_scheduled_proposal_once(shared: Product) -> None:
    proposal = submit(actor("ana"), timed(drafted(shared)))
    for name in ("ben", "dee"):
        proposal = approve(name, proposal)
    at = proposal.publish_at
    assert at is not None
    results = together(
        lambda: publish(actor("ben"), Proposal.objects.get(pk=proposal.pk), now=at),
        lambda: reconcile(shared.pk, at),
        lambda: reconcile(shared.pk, at),
    )
    assert set(refusals(results)) <= {"move_not_allowed"}
    assert Publication.objects.count() == 2
    assert AuditEvent.objects.filter(action="proposal.publish").count() == 1


def timed(proposal: Proposal) -> Proposal:
    local = f"{later(3600):%Y-%m-%dT%H:%M}"
    return reschedule(actor("ana"), proposal, local, "UTC")


def test_of_a_confirmation_and_an_undoing_at_once_one_is_the_second_look(shared: Product) -> None:
    cap_tenant(actor("dee"), shared, "acme", "10s", {"max_teu": 400}, "acme takes it all")
    look = SecondLook.objects.get()
    results = together(
        lambda: confirm(actor("ben"), SecondLook.objects.get(pk=look.pk), "it stands"),
        lambda: revert(actor("cho"), SecondLook.objects.get(pk=look.pk), "it goes"),
    )
    assert refusals(results) == ["move_not_allowed"]
    look.refresh_from_db()
    rolled_back = Publication.objects.filter(kind="rollback").count()
    assert rolled_back == (look.state == "reverted")
    acts = AuditEvent.objects.filter(object_type="second_look")
    assert [event.actor for event in acts] == [look.looked_by]
