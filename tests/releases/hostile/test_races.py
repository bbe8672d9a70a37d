"""Two acts that meet at the product's lock: each waits there, both go on, one outcome is left.

The lock is the event: it is held while both come to it, so that each has read what it read before
the other decided. Both orders of coming are tried.
"""

import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.test import Client

from accounts.guard import SYSTEM_ACTOR, person
from accounts.models import AuditEvent, Grant, User
from accounts.roles import Role
from accounts.services import grant, revoke_grant
from controlplane.errors import Problem
from policies.models import Product
from policies.selectors import given_of
from policies.services import create_product
from releases.lifecycle import lock_product
from releases.models import Proposal, Publication, RecordRevision
from releases.services.cap import cap_tenant
from releases.services.propose import propose
from releases.services.publish import publish
from tests.releases.releases_cast import SLUG, actor, approve, cast, in_review, live_product
from tests.small_policy import small_document

pytestmark = pytest.mark.django_db(transaction=True)
Act = Callable[[], Any]


@pytest.fixture
def shared() -> Product:
    cast()
    return live_product()


def waiting_for_a_lock() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT pid) FROM pg_locks WHERE NOT granted")
        return int(cursor.fetchone()[0])


def until(so_many: int) -> None:
    end = time.monotonic() + 20
    while waiting_for_a_lock() < so_many:
        assert time.monotonic() < end, "an act never came to the lock"
        time.sleep(0.01)


def alone(act: Act) -> Any:
    """On a connection of its own; a refusal is a result, a fault is raised."""
    try:
        return act()
    except Problem as refused:
        return refused
    finally:
        connections.close_all()


def meeting(product: Product, *acts: Act, beside: Product | None = None) -> list[Any]:
    """Each act comes to the lock while it is held, in this order; then it is let go."""
    with ThreadPoolExecutor(len(acts)) as pool:
        with transaction.atomic():
            for one in filter(None, (product, beside)):
                lock_product(one.pk)
            coming = []
            for number, act in enumerate(acts, 1):
                coming.append(pool.submit(alone, act))
                until(number)
        return [one.result(60) for one in coming]


def codes(results: list[Any]) -> list[str]:
    return sorted(one.code for one in results if isinstance(one, Problem))


def numbers(product: Product) -> list[int]:
    rows = Publication.objects.filter(product=product).order_by("number")
    return list(rows.values_list("number", flat=True))


def test_two_caps_at_once_are_both_in_force(shared: Product) -> None:
    def cap(tenant: str) -> Act:
        limits = {"max_teu": 400}
        return lambda: cap_tenant(actor("dee"), shared, tenant, "10s", limits, "it takes all")

    assert codes(meeting(shared, cap("acme"), cap("other"))) == []
    live = Publication.objects.latest("number").incumbent_digest
    tenants = {budget["tenant"] for budget in given_of(live)["budgets"]}
    assert {"acme", "other"} <= tenants
    assert numbers(shared) == [1, 2, 3]


def test_a_record_that_is_fixed_while_the_last_vote_lands_names_that_vote(shared: Product) -> None:
    proposal = in_review(shared, publish="manual")
    approve("ben", proposal)
    meeting(
        shared,
        lambda: approve("dee", Proposal.objects.get(pk=proposal.pk)),
        lambda: publish(actor("cho"), Proposal.objects.get(pk=proposal.pk)),
    )
    proposal.refresh_from_db()
    assert proposal.state == "published"
    fixed = RecordRevision.objects.get(proposal=proposal, final=True)
    assert all(name in json.dumps(fixed.texts) for name in ("ben", "dee"))


def owner_of(name: str, slug: str = SLUG) -> tuple[User, Grant]:
    user = User.objects.create_user(name)
    return user, grant(SYSTEM_ACTOR, user, Role.PRODUCT_OWNER, slug)


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_owners_who_take_each_others_role_one_stays(db: None, order: int) -> None:
    (fay, of_fay), (gus, of_gus) = owner_of("fay"), owner_of("gus")
    acts = [
        lambda: revoke_grant(person(fay), of_gus.pk, SLUG, "not you"),
        lambda: revoke_grant(person(gus), of_fay.pk, SLUG, "not you"),
    ]
    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            list(Grant.objects.select_for_update().filter(pk=of_fay.pk))
            first = pool.submit(alone, acts[::order][0])
            until(1)
            second = pool.submit(alone, acts[::order][1])
            until(2)
        results = [first.result(60), second.result(60)]
    assert codes(results) in (["forbidden"], ["last_owner"])
    assert Grant.objects.count() == 1
    assert AuditEvent.objects.filter(action="grant.taken").count() == 1


def asks_in_bulk(client: Client, key: str, *proposals: Proposal) -> Act:
    each = {"move": "withdraw", "reason": "no"}
    moves = [{**each, "proposal": one.pk, "expected_version": one.version} for one in proposals]
    headers = {"Idempotency-Key": key}
    return lambda: client.post(
        "/api/v1/proposals/bulk", {"moves": moves}, "application/json", headers=headers
    )


def test_two_bulks_over_two_products_wait_and_never_for_each_other(shared: Product) -> None:
    other = create_product(SYSTEM_ACTOR, "orchid-small", "Other", document=small_document())
    mine, theirs = in_review(shared), propose(actor("ana"), other, 1, "Another")
    client = Client()
    client.force_login(User.objects.get(username="ana"))
    there, back = asks_in_bulk(client, "a", mine, theirs), asks_in_bulk(client, "b", theirs, mine)
    for answer in meeting(shared, there, back, beside=other):
        assert answer.status_code == 200
        assert {one["status"] for one in answer.json()["items"]} <= {200, 409}
    withdrawn = AuditEvent.objects.filter(action="proposal.withdraw")
    assert withdrawn.count() == 2
