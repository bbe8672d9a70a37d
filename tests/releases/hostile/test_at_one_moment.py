"""What takes other locks than the product's, or none: two of it at one moment, many times."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts import invitations
from accounts.keys import Purpose, rotate
from accounts.models import AuditEvent, Credential, Grant, Invitation, User
from gates.models import Window
from policies.models import Product
from releases.models import Delivery, Edge, Proposal, Publication, Rollout
from releases.services import deliveries, override
from releases.services import rollout as moves
from releases.services.deliveries import send_due
from releases.services.edges import rotate_edge
from releases.services.issue import latest
from releases.services.notices import gather
from releases.services.outbound import Outcome
from releases.services.propose import submit
from releases.services.publish import publish
from releases.services.reconcile import reconcile
from releases.services.resign import as_signed
from releases.services.rollback import roll_back
from releases.services.webhooks import create_webhook
from tests.releases.hostile.meeting import assert_whole, numbers
from tests.releases.releases_cast import (
    SLUG,
    actor,
    approved,
    cast,
    drafted,
    edge,
    judged,
    later,
    live_product,
    published,
    says,
)
from tests.releases.test_at_once import STAGES, ready_to_advance, refusals, together

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shared() -> Product:
    cast()
    return live_product()


def test_one_of_two_rotations_replaces_the_token(shared: Product) -> None:
    found = edge(shared, "edge-1")
    old = found.credential_id

    def turn() -> Any:
        row = Edge.objects.get(pk=found.pk)
        return rotate_edge(actor("ben"), row, "routine", credential_id=old)

    assert refusals(together(turn, turn, turn, turn)) == ["credential_over"] * 3
    found.refresh_from_db()
    assert found.former_credential_id == old
    live = Credential.objects.filter(kind="edge", revoked_at=None, superseded_at=None)
    assert [one.pk for one in live] == [found.credential_id]


def test_one_of_two_submissions_begins_the_round(shared: Product) -> None:
    proposal = drafted(shared)

    def send() -> Any:
        return submit(actor("ana"), Proposal.objects.get(pk=proposal.pk))

    assert refusals(together(send, send, send)) == ["move_not_allowed"] * 2
    assert_whole(shared)


def test_an_invitation_is_taken_up_once(shared: Product) -> None:
    _, secret = invitations.invite(
        actor("ben"), email="x@example.org", role="sre", product_slug=SLUG
    )
    people = [User.objects.create_user(f"new-{number}") for number in range(4)]
    acts = [lambda user=user: _accepted(secret, user) for user in people]
    assert sorted(together(*acts)) == [False] * 3 + [True]
    assert Grant.objects.filter(product_slug=SLUG, role="sre").count() == 1
    assert AuditEvent.objects.filter(action="invitation.accepted").count() == 1
    assert Invitation.objects.get().accepted_by in people


def _accepted(secret: str, user: User) -> bool:
    from controlplane.errors import NotFound

    try:
        invitations.accept(secret, user)
    except NotFound:
        return False
    return True


def test_a_message_is_sent_by_one_of_the_workers(
    shared: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_webhook(actor("ben"), shared, "https://example.org/hook", ["rollback"])
    published(shared)
    roll_back(actor("dee"), shared, "users complain")
    gather(shared, timezone.now())
    Delivery.objects.filter(webhook=None).delete()
    sent: list[int] = []

    def kept(messages: Any) -> list[Outcome]:
        sent.append(len(messages))
        return [Outcome(200, "taken") for _ in messages]

    monkeypatch.setattr(deliveries, "send_all", kept)
    together(send_due, send_due, send_due, send_due)
    assert sum(sent) == 1
    assert Delivery.objects.get().state == "delivered"


def test_two_ticks_that_find_something_tell_it_once(shared: Product) -> None:
    create_webhook(actor("ben"), shared, "https://example.org/hook", ["rollback"])
    published(shared)
    roll_back(actor("dee"), shared, "users complain")
    together(*[lambda: gather(shared, timezone.now())] * 4)
    assert Delivery.objects.exclude(webhook=None).count() == 1


def test_whatever_key_signs_a_publication_is_one_that_is_trusted(shared: Product) -> None:
    """The keys turn while something is published, and the tick signs the newest one again."""
    proposal = approved(shared)
    together(
        lambda: publish(actor("dee"), Proposal.objects.get(pk=proposal.pk)),
        lambda: rotate(Purpose.BUNDLES, timezone.now(), at_once=True),
        lambda: reconcile(shared.pk, timezone.now()),
    )
    reconcile(shared.pk, timezone.now() + timedelta(seconds=20))
    newest = Publication.objects.latest("number")
    assert as_signed(newest).publication == newest.number == 2
    assert_whole(shared)


def test_an_override_speaks_of_no_later_judgement(shared: Product) -> None:
    gateway = edge(shared, "edge-1")
    rollout = published(shared, stages=STAGES)
    says(gateway, rollout.publication)
    reconcile(shared.pk, timezone.now())
    window = Window.objects.get(publication=rollout.publication.number, cohort="candidate")
    asked = override.ask(
        actor("ben"), rollout, judged(window, "inconclusive", later(25)).pk, "quiet"
    )
    results = together(
        lambda: override.confirm(actor("dee"), asked), lambda: judged(window, "fail", later(30))
    )
    reconcile(shared.pk, later(31))
    assert set(refusals(results)) <= {"override_stale"}
    assert Rollout.objects.get(pk=rollout.pk).stage_index == 0
    assert_whole(shared)


def test_an_emergency_beside_an_advance_is_what_is_live(shared: Product) -> None:
    from releases.services.cap import cap_tenant

    rollout, at = ready_to_advance(shared), later(26)
    together(
        lambda: moves.advance(actor("dee"), Rollout.objects.get(pk=rollout.pk), now=at),
        lambda: cap_tenant(actor("dee"), shared, "acme", "10s", {"max_teu": 9}, "it takes all"),
        lambda: reconcile(shared.pk, at),
    )
    live = latest(shared)
    assert live is not None
    assert (live.kind, live.candidate_digest) == ("emergency", None)
    assert Rollout.objects.get(pk=rollout.pk).state == "rolled_back"
    assert numbers(shared)[-1] in (3, 4)
    assert_whole(shared)
