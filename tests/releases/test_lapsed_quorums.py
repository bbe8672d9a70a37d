"""Approvals that stop being a quorum send a proposal back for a new round, and say whose it was."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import Grant, User
from accounts.roles import EVERY_PRODUCT, Role
from accounts.services import grant
from policies.models import Product
from releases.models import Publication
from releases.services.reconcile import reconcile
from tests.releases.desk import OF_PRODUCT, Desk, approved, votes
from tests.releases.releases_cast import document

Row = dict[str, Any]


def loses_the_role(row: Row) -> None:
    Grant.objects.filter(user__username="ben").delete()


def leaves(row: Row) -> None:
    User.objects.filter(username="ben").update(is_active=False)


def edits_and_takes_it_back(row: Row) -> None:
    grant(SYSTEM_ACTOR, User.objects.get(username="ben"), Role.ENGINEER, EVERY_PRODUCT)
    path = f"{OF_PRODUCT}/generations/{row['generation']}/revisions"
    changed = copy.deepcopy(document(2))
    changed["contract"]["deadline_ms"] = 1600
    for revision, given in ((1, changed), (2, document(2))):
        body: Row = {"document": given, "expected_revision": revision}
        assert Desk("ben").asks(path, **body)[0] == 201


LAPSES = [
    (loses_the_role, "approval_lapsed", "ben no longer holds the role of the approval"),
    (leaves, "approval_lapsed", "ben no longer holds the role of the approval"),
    (edits_and_takes_it_back, "approval_stale", "ben approved it and had a hand in it afterwards"),
]


@pytest.mark.parametrize("door", ["api", "page", "tick"])
@pytest.mark.parametrize(("lapses", "code", "why"), LAPSES)
def test_it_goes_back_and_can_be_approved_again(
    product: Product, door: str, lapses: Callable[[Row], None], code: str, why: str
) -> None:
    row, dee = approved(document(2)), Desk("dee")
    lapses(row)
    form = {"expected_version": row["version"]}
    if door == "tick":
        reconcile(product.pk, timezone.now())
    elif door == "page":
        assert dee.sends("publish", row["id"], **form).status_code == 409
    else:
        status, refused = dee.asks(f"proposals/{row['id']}/publish", **form)
        assert (status, refused["code"], why in refused["detail"]) == (409, code, True)
    now = dee.reads(f"proposals/{row['id']}")
    assert (now["state"], now["round"], now["returned_why"]) == ("draft", 2, why)
    assert {(one["void"], one["void_why"]) for one in now["votes"]} == {(True, why)}
    assert why in Desk("eve").page("proposal", row["id"])
    version = {"expected_version": now["version"]}
    status, again = Desk("ana").asks(f"proposals/{row['id']}/submit", **version)
    assert (status, again["state"]) == (200, "in_review")
    for name in ("cho", "dee"):
        _, again = votes(name, again)
    version = {"expected_version": again["version"]}
    status, done = dee.asks(f"proposals/{row['id']}/publish", **version)
    assert (status, done["state"], Publication.objects.count()) == (200, "published", 2), done
