"""An owner gives and takes roles on the page of access, and can't lock the product up."""

import pytest
from django.test import Client

from accounts.guard import Permission, may
from accounts.models import AuditEvent, Grant
from tests.people import Cast

SLUG = "orchid-demo"
ACCESS = f"/products/{SLUG}/access/"


def role_of(cast: Cast, name: str, role: str, slug: str = SLUG) -> Grant:
    return Grant.objects.create(user=getattr(cast, name), role=role, product_slug=slug)


def take(client: Client, grant: Grant, reason: str = "moved on") -> int:
    answer = client.post(f"{ACCESS}roles/take", {"grant": grant.pk, "reason": reason})
    return int(answer.status_code)


def test_a_role_is_given_to_an_account_and_counts_at_once(cast: Cast) -> None:
    cast.browser("ben").post(f"{ACCESS}roles", {"username": "sam", "role": "sre"})
    assert may(cast.actor("sam"), Permission.ROLLBACK, SLUG)
    assert not may(cast.actor("sam"), Permission.ROLLBACK, "orchid-serve")
    event = AuditEvent.objects.get(action="grant.given")
    assert (event.actor, event.object_id, event.data) == ("ben", "sam", {"role": "sre"})


@pytest.mark.parametrize("typed", [{"username": "nobody"}, {"role": ""}, {"role": "ci"}])
def test_nobody_and_nothing_is_given_no_role(cast: Cast, typed: dict[str, str]) -> None:
    wanted = {"username": "sam", "role": "sre"} | typed
    assert cast.browser("ben").post(f"{ACCESS}roles", wanted).status_code == 400
    assert not Grant.objects.filter(product_slug=SLUG).exists()


def test_a_role_is_taken_back_with_a_reason_and_counts_no_more(cast: Cast) -> None:
    given = role_of(cast, "sam", "sre")
    browser = cast.browser("ben")
    take(browser, given, reason="")
    assert may(cast.actor("sam"), Permission.ROLLBACK, SLUG)
    take(browser, given)
    assert not may(cast.actor("sam"), Permission.ROLLBACK, SLUG)
    assert AuditEvent.objects.get(action="grant.taken").reason == "moved on"


def test_a_role_in_every_product_is_not_an_owner_of_one_to_take(cast: Cast) -> None:
    role_of(cast, "sam", "product_owner")
    everywhere = Grant.objects.get(user=cast.dee)
    assert take(cast.browser("sam"), everywhere) == 403
    assert take(cast.browser("ben"), everywhere) == 302


def test_a_role_of_another_product_is_not_there(cast: Cast) -> None:
    assert take(cast.browser("ben"), role_of(cast, "sam", "sre", "orchid-serve")) == 404


def test_the_last_who_can_give_roles_stays(cast: Cast) -> None:
    ben, cho = Grant.objects.filter(role="product_owner").order_by("user__username")
    browser = cast.browser("ben")
    assert take(browser, cho) == 302
    assert take(browser, ben) == 409
    assert Grant.objects.filter(pk=ben.pk).exists()
