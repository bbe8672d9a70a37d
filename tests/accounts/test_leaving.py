"""Somebody leaves: what they and their machines show counts no longer; and they may come back."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from pytest_django import Settings

from accounts.guard import SYSTEM_ACTOR, Actor
from accounts.leaving import end_account
from accounts.models import AuditEvent, Credential, Grant, User
from accounts.roles import EVERY_PRODUCT
from accounts.services import grant, issue_credential, revoke_grant
from controlplane.errors import Conflict
from tests.people import PASSWORD, Cast, cast_in
from tests.releases.hostile.meeting import alone, codes, until

SLUG = "orchid-demo"


def issued(owner: User) -> tuple[Credential, str]:
    return issue_credential(SYSTEM_ACTOR, kind="ci", name="nightly", product_slug=SLUG, owner=owner)


def ends(door: str, cast: Cast, name: str, by: str = "ben", **more: Any) -> Any:
    """End an account by the page or by the API."""
    asked, client = {"reason": "left", **more}, cast.browser(by)
    if door == "page":
        return client.post(f"/people/{name}/end", asked)
    return client.post(f"/api/v1/people/{name}/end", asked, "application/json")


def is_done(answer: Any) -> bool:
    return answer.status_code in (200, 302)


@pytest.mark.parametrize("door", ["page", "api"])
def test_who_left_is_out_at_once_and_so_are_their_machines(cast: Cast, door: str) -> None:
    _, token = issued(cast.ana)
    machine = Client(headers={"Authorization": f"Bearer {token}"})
    ana = Client()
    ana.post("/login", {"username": "ana", "password": PASSWORD})
    assert UserSession.objects.filter(user=cast.ana).exists()
    assert (
        ana.get("/api/v1/products").status_code,
        machine.get("/api/v1/products").status_code,
    ) == (200, 200)
    assert is_done(ends(door, cast, "ana", tokens_fall=True))
    assert ana.get("/account/").status_code == 302
    assert machine.get("/api/v1/products").status_code == 401
    assert not UserSession.objects.filter(user=cast.ana).exists()
    assert not Client().login(username="ana", password=PASSWORD)
    event = AuditEvent.objects.get(action="account.ended")
    assert (event.actor, event.object_id, event.reason) == ("ben", "ana", "left")
    assert [one["name"] for one in event.data["tokens"]] == ["nightly"]
    assert AuditEvent.objects.filter(action="credential.revoked").count() == 1


@pytest.mark.parametrize("door", ["page", "api"])
def test_tokens_are_named_before_they_fall(cast: Cast, door: str) -> None:
    credential, _ = issued(cast.ana)
    shown = cast.browser("ben").get("/people/ana/").content.decode()
    (named,) = cast.browser("ben").get("/api/v1/people/ana").json()["tokens"]
    assert "nightly" in shown
    assert (named["name"], named["product"], "token" in named) == ("nightly", SLUG, False)
    refused = ends(door, cast, "ana")
    assert (refused.status_code, "ci nightly of orchid-demo" in refused.content.decode()) == (
        409,
        True,
    )
    credential.refresh_from_db()
    cast.ana.refresh_from_db()
    assert (cast.ana.is_active, credential.revoked_at) == (True, None)


def test_somebody_who_comes_back_has_their_roles_and_none_of_their_tokens(cast: Cast) -> None:
    _, token = issued(cast.ana)
    ends("api", cast, "ana", tokens_fall=True)
    again = {"reason": "a mistake"}
    assert cast.browser("cho").post("/people/ana/restore", again).status_code == 302
    back = cast.browser("cho").post("/api/v1/people/ana/restore", again, "application/json")
    assert [one["role"] for one in back.json()["roles"]] == ["engineer"]
    assert AuditEvent.objects.filter(action="account.restored").count() == 1
    assert Client().login(username="ana", password=PASSWORD)
    machine = Client(headers={"Authorization": f"Bearer {token}"})
    assert machine.get("/api/v1/products").status_code == 401


@pytest.mark.parametrize("door", ["page", "api"])
def test_nobody_ends_or_restores_their_own_account(cast: Cast, door: str) -> None:
    assert ends(door, cast, "ben").status_code == 403
    assert cast.browser("ben").post("/people/ben/restore", {"reason": "x"}).status_code == 403
    cast.ben.refresh_from_db()
    assert cast.ben.is_active


def test_the_last_who_can_give_roles_stays(cast: Cast) -> None:
    grant(SYSTEM_ACTOR, cast.dee, "product_owner", "orchid-serve")
    assert is_done(ends("api", cast, "dee"))  # others own every product
    assert is_done(ends("api", cast, "cho"))
    with pytest.raises(Conflict, match="give roles in every product"):
        end_account(SYSTEM_ACTOR, "ben", "left")
    Grant.objects.filter(user=cast.ben).update(product_slug="orchid-serve")
    grant(SYSTEM_ACTOR, cast.ben, "product_owner", "orchid-serve")
    with pytest.raises(Conflict, match="give roles in orchid-serve"):
        end_account(SYSTEM_ACTOR, "ben", "left")  # however often they hold the role themselves


def test_ended_twice_is_ended(cast: Cast) -> None:
    for _ in range(2):
        assert is_done(ends("api", cast, "ana"))
    assert AuditEvent.objects.filter(action="account.ended").count() == 1


@pytest.mark.parametrize("door", ["page", "api"])
def test_it_takes_a_reason_a_role_everywhere_and_a_fresh_word(
    cast: Cast, door: str, settings: Settings
) -> None:
    assert ends(door, cast, "ana", reason=" ").status_code == 400
    assert ends(door, cast, "nobody").status_code == 404
    Grant.objects.filter(user=cast.cho).update(product_slug=SLUG)
    for name in ("ana", "cho", "dee", "eve"):
        assert ends(door, cast, "sam", by=name).status_code == 403
    settings.CONFIRMED_FOR_S = 0
    late = ends(door, cast, "ana")
    asked = {"page": (302, True), "api": (403, False)}[door]
    assert (late.status_code, late.headers.get("Location", "").startswith("/confirm")) == asked
    cast.ana.refresh_from_db()
    assert cast.ana.is_active


def test_it_is_done_from_a_terminal_too(cast: Cast) -> None:
    issued(cast.ana)
    with pytest.raises(CommandError, match="ci nightly of orchid-demo"):
        call_command("end_person", "ana", "left")
    call_command("end_person", "ana", "left", "--tokens-fall")
    cast.ana.refresh_from_db()
    assert not cast.ana.is_active
    call_command("end_person", "ana", "back", "--restore")
    cast.ana.refresh_from_db()
    assert cast.ana.is_active


def test_the_list_names_everybody_and_who_is_out(cast: Cast) -> None:
    ends("api", cast, "sam")
    listed = cast.browser("ben").get("/api/v1/people").json()["items"]
    assert {one["name"]: one["is_active"] for one in listed} == {
        **dict.fromkeys(("ana", "ben", "cho", "dee", "eve"), True),
        "sam": False,
    }
    page = cast.browser("ben").get("/people/").content.decode()
    assert "/people/sam/" in page
    assert "/people/" in cast.browser("ben").get(f"/products/{SLUG}/access/").content.decode()


def takes_role(actor: Actor, name: str) -> None:
    mine = Grant.objects.get(user__username=name)
    revoke_grant(actor, mine.pk, EVERY_PRODUCT, "you first")


def ends_account(actor: Actor, name: str) -> None:
    end_account(actor, name, "you first")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", [ends_account, takes_role])
def test_of_two_last_owners_who_shut_out_each_other_one_stays(
    act: Callable[[Actor, str], None],
) -> None:
    """The owners' rows are held until both have been let in and wait for them."""
    cast = cast_in()
    pairs = [(cast.actor("ben"), "cho"), (cast.actor("cho"), "ben")]
    coming: list[Future[Any]] = []
    with ThreadPoolExecutor(2) as pool:
        with transaction.atomic():
            list(Grant.objects.select_for_update().filter(role="product_owner"))
            for pair in pairs:
                coming.append(pool.submit(alone, partial(act, *pair)))
                until(coming)
        results = [one.result(60) for one in coming]
    assert codes(results) == ["last_owner"]
    owners = Grant.objects.filter(role="product_owner", user__is_active=True)
    assert owners.count() == 1
