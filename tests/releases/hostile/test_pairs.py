"""Every act beside every other that may meet it, in both orders: one outcome, and a whole trail."""

import itertools
import os
from collections.abc import Callable
from typing import Any

import pytest

from accounts.guard import SYSTEM_ACTOR
from accounts.models import Grant
from accounts.services import revoke_grant
from policies.models import Product
from releases.models import Proposal, Publication, SecondLook
from releases.services import bulk
from releases.services.binding import bound_digest
from releases.services.cap import cap_tenant
from releases.services.drill import start_drill
from releases.services.emergency import Seen, publish_in_emergency
from releases.services.expiry import expire_if_due
from releases.services.issue import latest
from releases.services.propose import withdraw
from releases.services.publish import publish
from releases.services.release_pool import release_pool
from releases.services.review import vote
from releases.services.rollback import roll_back
from releases.services.schedule import reschedule
from releases.services.second_look import confirm, revert
from releases.states import Choice
from tests.releases.hostile.meeting import assert_whole, codes, meeting
from tests.releases.releases_cast import (
    actor,
    approve,
    cast,
    edge,
    in_review,
    later,
    live_product,
    revised,
    says,
)

pytestmark = pytest.mark.django_db(transaction=True)
#: All of them is for an attack by hand.
EVERY = bool(os.environ.get("HOSTILE_EVERY"))


@pytest.fixture
def shared() -> Product:
    """Live by a cap that owes a look, with an edge; one round lacks a vote, one proposal none."""
    cast()
    product = live_product()
    cap_tenant(actor("dee"), product, "acme", "10s", {"max_teu": 400}, "acme takes it all")
    says(edge(product, "edge-1"), latest(product))
    approve("ben", in_review(product, publish="manual"))
    approve("dee", Proposal.objects.get(state="in_review"))
    approve("ben", in_review(product, publish="manual", unit="request"))
    return product


def approved() -> Proposal:
    return Proposal.objects.order_by("pk")[1]


def voting() -> Proposal:
    return Proposal.objects.latest("pk")


def look() -> SecondLook:
    return SecondLook.objects.get()


def first_digest() -> str:
    return str(Publication.objects.get(number=1).incumbent_digest)


def grant_of(name: str) -> int:
    return Grant.objects.get(user__username=name).pk


def asked(name: str, row: Proposal) -> Any:
    return vote(actor(name), row, Choice.APPROVE, "measured", bound_digest(row))


def in_bulk(name: str, row: Proposal) -> Any:
    move = {"proposal": row.pk, "move": "approve", "reason": "measured", "expected_version": None}
    return bulk.move_each(actor(name), [{**move, "bound_digest": bound_digest(row)}])


#: What each does to the product of `shared`.
ACTS: dict[str, Callable[[Product], Any]] = {
    "publish": lambda p: publish(actor("ben"), approved()),
    "its time comes": lambda p: publish(SYSTEM_ACTOR, approved()),
    "roll back": lambda p: roll_back(actor("dee"), p, "users complain"),
    "edit": lambda p: revised(approved(), overload=["reject_infeasible"]),
    "withdraw": lambda p: withdraw(actor("ana"), approved(), "no"),
    "schedule": lambda p: reschedule(
        actor("ana"), approved(), f"{later(86_400):%Y-%m-%dT%H:%M}", "UTC"
    ),
    "emergency": lambda p: publish_in_emergency(
        actor("dee"), approved(), "now", Seen(approved().revision_digest)
    ),
    "expire": lambda p: expire_if_due(voting(), later(90 * 86_400)),
    "vote": lambda p: asked("dee", voting()),
    "vote in bulk": lambda p: in_bulk("dee", voting()),
    "reject": lambda p: vote(actor("cho"), voting(), Choice.REJECT, "no", bound_digest(voting())),
    "confirm": lambda p: confirm(actor("ben"), look(), "it stands"),
    "revert": lambda p: revert(actor("cho"), look(), "it goes"),
    "release the pool": lambda p: release_pool(actor("ben"), p, first_digest(), "not needed"),
    "take the role": lambda p: revoke_grant(SYSTEM_ACTOR, grant_of("dee"), "*", "she left"),
    "drill": lambda p: start_drill(actor("dee"), p),
    "cap": lambda p: cap_tenant(actor("dee"), p, "other", "10s", {"max_teu": 9}, "other too"),
}
#: Who comes first and who second: how many numbers are taken, and what is refused.
OUTCOMES: dict[tuple[str, str], tuple[int, list[str]]] = {
    ("publish", "roll back"): (2, []),
    ("roll back", "publish"): (1, ["base_changed"]),
    ("publish", "edit"): (0, ["approval_stale"]),
    ("vote", "edit"): (0, []),
    ("schedule", "withdraw"): (0, []),
    ("withdraw", "schedule"): (0, ["move_not_allowed"]),
    ("emergency", "its time comes"): (1, ["move_not_allowed"]),
    ("its time comes", "emergency"): (1, ["move_not_allowed"]),
    ("confirm", "revert"): (0, ["move_not_allowed"]),
    ("revert", "confirm"): (1, ["move_not_allowed"]),
    ("release the pool", "roll back"): (1, ["accounting_open"]),
    ("roll back", "release the pool"): (1, ["pool_serves"]),
    ("take the role", "publish"): (0, ["approval_lapsed"]),
    ("publish", "take the role"): (0, ["approval_lapsed"]),
    ("vote", "vote in bulk"): (0, []),
    ("vote in bulk", "vote"): (0, ["move_not_allowed"]),
    ("vote", "reject"): (0, ["move_not_allowed"]),
    ("reject", "vote"): (0, ["move_not_allowed"]),
    ("drill", "roll back"): (1, []),
    ("roll back", "drill"): (1, ["nothing_to_restore"]),
    ("expire", "vote"): (0, ["move_not_allowed"]),
    ("vote", "expire"): (0, []),
    ("cap", "publish"): (1, ["base_changed"]),
    ("publish", "cap"): (2, []),
}
MEETING = list(itertools.permutations(ACTS, 2)) if EVERY else list(OUTCOMES)


@pytest.mark.parametrize(("one", "other"), MEETING)
def test_two_acts_that_meet_leave_one_outcome(shared: Product, one: str, other: str) -> None:
    before = Publication.objects.count()
    results = meeting(shared, lambda: ACTS[one](shared), lambda: ACTS[other](shared))
    assert_whole(shared)
    taken = Publication.objects.count() - before
    assert taken <= 2
    assert (taken, codes(results)) == OUTCOMES.get((one, other), (taken, codes(results)))
