"""Invitations and the access page."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.guard import Permission, may, person
from accounts.models import Credential, Invitation, User
from tests.people import Cast

SLUG = "orchid-demo"
ACCESS = f"/products/{SLUG}/access/"


def invited(cast: Cast) -> str:
    cast.browser("ben").post(f"{ACCESS}invite", {"email": "kim@example.org", "role": "sre"})
    found = re.search(r"http://testserver(/invitations/\S+)", str(mail.outbox[-1].body))
    assert found
    return found[1]


def test_whoever_holds_the_link_joins_with_the_promised_role_once(cast: Cast) -> None:
    link = invited(cast)
    typed = {"username": "kim", "display_name": "Kim", "password": "a-long-enough-one"}
    assert Client().post(link, typed).headers["Location"] == "/"
    kim = User.objects.get(username="kim")
    assert may(person(kim), Permission.ROLLBACK, SLUG)
    assert not may(person(kim), Permission.ROLLBACK, "orchid-serve")
    assert Client().get(link).status_code == 404


def test_somebody_who_is_here_already_accepts_with_one_button(cast: Cast) -> None:
    link = invited(cast)
    assert cast.browser("sam").get(link).status_code == 200
    assert not may(cast.actor("sam"), Permission.VIEW, SLUG)
    cast.browser("sam").post(link)
    assert may(cast.actor("sam"), Permission.ROLLBACK, SLUG)


#: `fi` as one letter, wide letters, and a letter with its accent apart.
SPELLINGS = [("ﬁona", "fiona"), ("ｋｉｍ", "kim"), ("Jose\u0301", "José")]


@pytest.mark.parametrize(("typed", "name"), SPELLINGS)
def test_a_name_is_one_in_every_spelling_and_has_one_account(
    cast: Cast, typed: str, name: str
) -> None:
    joining = {"display_name": "", "password": "a-long-enough-one"}
    assert Client().post(invited(cast), joining | {"username": typed}).status_code == 302
    made = User.objects.get(username=typed)
    assert (made.username, made.check_password(joining["password"])) == (name, True)
    for spelling in (typed, name):
        signing_in = {"username": spelling, "password": joining["password"]}
        assert Client().post("/login", signing_in).status_code == 302
        again = Client().post(invited(cast), joining | {"username": spelling})
        assert f"{name} is taken" in again.content.decode()
        given = {"username": spelling, "role": "auditor"}
        answer = cast.browser("ben").post(
            f"/api/v1/products/{SLUG}/roles", given, "application/json"
        )
        assert answer.json()["username"] == name
    assert User.objects.filter(password=made.password).count() == 1


def test_a_name_that_grows_too_long_when_it_is_written_out_joins_nobody(cast: Cast) -> None:
    typed = {"username": "ﷺ" * 20, "password": "a-long-enough-one"}
    answer = Client().post(invited(cast), typed)
    assert "at most 150 characters" in answer.content.decode()
    assert Invitation.objects.get().accepted_at is None


INVITATIONS = f"/api/v1/products/{SLUG}/invitations"
KIM = {"email": "kim@example.org", "role": "sre"}


def test_an_owner_invites_by_the_api_and_the_link_is_in_that_answer_and_the_mail_alone(
    cast: Cast,
) -> None:
    ben = cast.browser("ben")
    made = ben.post(INVITATIONS, KIM, "application/json")
    assert made.status_code == 201, made.json()
    link = made.json()["link"]
    assert link in mail.outbox[0].body
    assert mail.outbox[0].to == ["kim@example.org"]
    (listed,) = ben.get(INVITATIONS).json()["items"]
    assert "link" not in listed
    assert (listed["email"], listed["role"], listed["invited_by"]) == (*KIM.values(), "ben")
    assert cast.browser("sam").post(link).status_code == 302
    assert may(cast.actor("sam"), Permission.ROLLBACK, SLUG)
    assert ben.get(INVITATIONS).json()["items"] == []


def test_by_the_api_too_who_lets_others_in_confirms_who_they_are(
    cast: Cast, settings: Settings
) -> None:
    ben = cast.browser("ben")
    wrong = ben.post(INVITATIONS, {**KIM, "role": "ci"}, "application/json")
    assert (wrong.status_code, Invitation.objects.count()) == (400, 0)
    settings.CONFIRMED_FOR_S = 0
    refused = ben.post(INVITATIONS, KIM, "application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "confirmation_needed")
    assert cast.browser("ana").get(INVITATIONS).status_code == 403
    assert not Invitation.objects.exists()


def test_an_invitation_ends_with_its_week(cast: Cast) -> None:
    link = invited(cast)
    Invitation.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert Client().get(link).status_code == 404


@pytest.mark.parametrize("changed", [{"password": "short"}, {"username": "ana"}])
def test_a_weak_password_or_a_taken_name_joins_nobody(cast: Cast, changed: dict[str, str]) -> None:
    link = invited(cast)
    typed = {"username": "kim", "display_name": "", "password": "a-long-enough-one"} | changed
    assert "problem" in Client().post(link, typed).content.decode()
    assert not User.objects.filter(username="kim").exists()
    assert Invitation.objects.get().accepted_at is None


def test_a_token_is_shown_in_the_answer_and_never_again(cast: Cast) -> None:
    browser = cast.browser("ben")
    first = browser.post(f"{ACCESS}credentials", {"kind": "edge", "name": "edge-1"})
    token = re.search(r"orc_edge_[\w-]{43}", first.content.decode())
    assert token
    assert token[0] not in browser.get(ACCESS).content.decode()
    assert Credential.objects.get().owner == cast.ben


def test_a_credential_is_revoked_with_a_reason(cast: Cast) -> None:
    browser = cast.browser("ben")
    browser.post(f"{ACCESS}credentials", {"kind": "edge", "name": "edge-1"})
    found = Credential.objects.get()
    browser.post(f"{ACCESS}revoke", {"credential": found.pk, "reason": ""})
    found.refresh_from_db()
    assert found.revoked_at is None
    browser.post(f"{ACCESS}revoke", {"credential": found.pk, "reason": "rotated"})
    found.refresh_from_db()
    assert found.revoked_at is not None


@pytest.mark.parametrize(("name", "status"), [("ana", 403), ("eve", 403), ("sam", 404)])
def test_who_does_not_administer_the_product_sees_no_access_page(
    cast: Cast, name: str, status: int
) -> None:
    assert cast.browser(name).get(ACCESS).status_code == status
    answer = cast.browser(name).post(f"{ACCESS}credentials", {"kind": "ci", "name": "x"})
    assert answer.status_code == status
    assert not Credential.objects.exists()
