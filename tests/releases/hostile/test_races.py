"""Two acts that meet at the product's lock: each waits there, both go on, one outcome is left.

The lock is the event: it is held while both come to it, so that each has read what it read before
the other decided. Both orders of coming are tried.
"""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import transaction
from django.test import Client

from accounts.guard import SYSTEM_ACTOR, person
from accounts.models import AuditEvent, Grant, User
from accounts.roles import Role
from accounts.services import grant, revoke_grant
from policies.models import Product
from policies.selectors import given_of
from policies.services import create_product
from releases.models import Proposal, Publication, RecordRevision
from releases.services.cap import cap_tenant
from releases.services.propose import propose
from releases.services.publish import publish
from tests.releases.hostile.meeting import Act, alone, codes, meeting, numbers, until
from tests.releases.releases_cast import SLUG, actor, approve, cast, in_review, live_product
from tests.small_policy import small_document

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def shared() -> Product:
    cast()
    return live_product()


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
    acts: list[Act] = [
        lambda: revoke_grant(person(fay), of_gus.pk, SLUG, "not you"),
        lambda: revoke_grant(person(gus), of_fay.pk, SLUG, "not you"),
    ]
    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            list(Grant.objects.select_for_update().filter(pk=of_fay.pk))
            coming = []
            for act in acts[::order]:
                coming.append(pool.submit(alone, act))
                until(coming)
        results = [one.result(60) for one in coming]
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
