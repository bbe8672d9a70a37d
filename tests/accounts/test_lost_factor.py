"""A second factor that was lost is taken away by somebody else, who says why; never by oneself."""

from io import StringIO
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from accounts.models import AuditEvent, Grant
from tests.accounts.test_second_factor import code_of, is_in, password_given, with_app
from tests.people import PASSWORD, Cast

PAGE, API = "/people/cho/factors", "/api/v1/people/cho/factors/reset"
WHY = {"reason": "new phone, seen in person"}


@pytest.fixture
def lost(cast: Cast, django_capture_on_commit_callbacks: Any) -> Client:
    """Cho has an app, and a session that was begun with it."""
    secret, _ = with_app(cast, "cho", django_capture_on_commit_callbacks)
    client = password_given("cho")
    client.post("/login/code", {"code": code_of(secret)})
    assert is_in(client)
    return client


def asked(cast: Cast, name: str, *, by_page: bool, **said: str) -> Any:
    client, wanted = cast.browser(name), said or WHY
    if by_page:
        return client.post(PAGE, wanted)
    return client.post(API, wanted, "application/json")


@pytest.mark.parametrize("by_page", [True, False])
def test_another_owner_takes_it_away_and_everybody_knows(
    cast: Cast, lost: Client, by_page: bool
) -> None:
    assert "Authenticator app" in cast.browser("ben").get(PAGE).content.decode()
    done = asked(cast, "ben", by_page=by_page)
    assert done.status_code == (302 if by_page else 200)
    if not by_page:
        told = {"person": "cho", "sessions_ended": 1, "mailed": True}
        assert done.json() == told | {"removed": ["totp", "recovery_codes"]}
    assert not Authenticator.objects.exists()
    assert lost.get("/account/").status_code == 302
    [row] = AuditEvent.objects.filter(action="factor.reset")
    assert (row.actor, row.object_id, row.reason) == ("ben", "cho", WHY["reason"])
    assert row.data == {"removed": ["totp", "recovery_codes"], "sessions_ended": 1}
    [sent] = mail.outbox
    assert sent.to == ["cho@example.org"]
    assert WHY["reason"] in str(sent.body)
    assert "ben has taken away" in str(sent.body)
    again = Client()
    again.post("/login", {"username": "cho", "password": PASSWORD})
    assert is_in(again)


def test_where_the_role_needs_one_the_next_sign_in_sets_one_up_first(
    cast: Cast, lost: Client, settings: Settings
) -> None:
    asked(cast, "ben", by_page=False)
    settings.SECOND_FACTOR_ROLES = ["product_owner"]
    again = Client()
    again.post("/login", {"username": "cho", "password": PASSWORD})
    assert again.get("/").headers["Location"] == "/account/"
    refused = again.get("/api/v1/products")
    assert (refused.status_code, refused.json()["code"]) == (403, "second_factor_needed")


@pytest.mark.parametrize("by_page", [True, False])
@pytest.mark.parametrize(
    ("name", "status"), [("cho", 403), ("ana", 403), ("dee", 403), ("eve", 403), ("sam", 403)]
)
def test_nobody_takes_their_own_away_and_no_other_role_anybodys(
    cast: Cast, lost: Client, name: str, status: int, by_page: bool
) -> None:
    assert asked(cast, name, by_page=by_page).status_code == status
    assert Authenticator.objects.filter(user=cast.cho).count() == 2
    assert not AuditEvent.objects.filter(action="factor.reset").exists()
    assert mail.outbox == []


def test_an_owner_of_one_product_takes_nobodys_away(cast: Cast, lost: Client) -> None:
    Grant.objects.filter(user=cast.ben).update(product_slug="orchid-demo")
    assert asked(cast, "ben", by_page=False).status_code == 403
    assert Authenticator.objects.filter(user=cast.cho).count() == 2


@pytest.mark.parametrize("by_page", [True, False])
def test_who_signed_in_long_ago_confirms_first(
    cast: Cast, lost: Client, settings: Settings, by_page: bool
) -> None:
    settings.CONFIRMED_FOR_S = 0
    refused = asked(cast, "ben", by_page=by_page)
    assert refused.status_code == (302 if by_page else 403)
    assert Authenticator.objects.filter(user=cast.cho).count() == 2


def test_a_reason_is_asked_for_and_what_is_not_there_is_said(cast: Cast, lost: Client) -> None:
    for by_page in (True, False):
        assert asked(cast, "ben", by_page=by_page, reason=" ").status_code == 400
    ben = cast.browser("ben")
    none = ben.post("/api/v1/people/eve/factors/reset", WHY, "application/json")
    assert (none.status_code, none.json()["code"]) == (409, "no_factor")
    nobody = ben.post("/api/v1/people/kim/factors/reset", WHY, "application/json")
    assert (nobody.status_code, nobody.json()["code"]) == (404, "not_found")
    assert "There is no second factor" in ben.get("/people/eve/factors").content.decode()


def test_a_mail_that_no_server_takes_is_said_and_stops_nothing(
    cast: Cast, lost: Client, settings: Settings
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    assert asked(cast, "ben", by_page=False).json()["mailed"] is False
    assert not Authenticator.objects.exists()


def test_the_page_of_a_person_leads_there_and_ones_own_does_not(cast: Cast) -> None:
    ben = cast.browser("ben")
    assert "/people/cho/factors" in ben.get("/people/cho/").content.decode()
    assert "/people/ben/factors" not in ben.get("/people/ben/").content.decode()


def test_the_only_owner_is_helped_where_the_product_runs(cast: Cast, lost: Client) -> None:
    out = StringIO()
    call_command("reset_factor", "cho", "the only owner", stdout=out)
    assert "with the password alone" in out.getvalue()
    assert AuditEvent.objects.get(action="factor.reset").actor == "orchid"
    with pytest.raises(CommandError, match="no second factor"):
        call_command("reset_factor", "cho", "again")
