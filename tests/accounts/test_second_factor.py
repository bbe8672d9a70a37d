"""An authenticator app and recovery codes: set up, asked for, guessed at, and required of roles."""

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import (
    format_hotp_value,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.core.cache import cache
from django.test import Client
from pytest_django import Settings

from accounts.models import AuditEvent, FailedSignIn, User
from tests.people import PASSWORD, Cast


def code_of(secret: str, ahead: int = 1) -> str:
    """What the app shows next, which a slow clock is granted; 0 steps ahead, what it shows now."""
    steps = [*yield_hotp_counters_from_time()]
    shown: str = format_hotp_value(hotp_value(secret, steps[len(steps) // 2 + ahead]))
    return shown


def with_app(cast: Cast, name: str, commits: Any) -> tuple[str, list[str]]:
    """Add an authenticator app by the pages; its secret and the recovery codes shown once."""
    browser = cast.browser(name)
    page = browser.get("/account/totp/add").content.decode()
    secret = re.findall(r"<code[^>]*>([A-Z2-7]{16,})</code>", page)[0]
    with commits(execute=True):
        answer = browser.post("/account/totp/add", {"code": code_of(secret, 0)}, follow=True)
    assert answer.redirect_chain[-1][0] == "/account/codes"
    shown = answer.content.decode().partition("<pre")[2].partition("</pre>")[0]
    codes = re.findall(r"\b\d{8}\b", shown)
    return secret, codes


def password_given(name: str, address: str = "127.0.0.1") -> Client:
    client = Client(REMOTE_ADDR=address)
    answer = client.post("/login", {"username": name, "password": PASSWORD, "next": "/account/"})
    assert answer.headers["Location"] == "/login/code"
    return client


def is_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def actions(name: str) -> set[str]:
    return set(AuditEvent.objects.filter(object_id=name).values_list("action", flat=True))


def test_a_right_password_alone_signs_nobody_in_who_has_an_app(
    cast: Cast, django_capture_on_commit_callbacks: Any
) -> None:
    secret, _ = with_app(cast, "ben", django_capture_on_commit_callbacks)
    client = password_given("ben")
    assert not is_in(client)
    assert client.get("/products/orchid-demo/").headers["Location"].startswith("/login")
    answer = client.post("/login/code", {"code": code_of(secret)})
    assert (answer.headers["Location"], is_in(client)) == ("/account/", True)
    assert {"factor.added", "sign_in"} <= actions("ben")


def test_a_code_is_not_asked_of_who_did_not_give_the_password(cast: Cast) -> None:
    assert Client().get("/login/code").headers["Location"] == "/login"


def test_a_code_lets_in_once_and_not_where_it_set_the_app_up(
    cast: Cast, django_capture_on_commit_callbacks: Any
) -> None:
    secret, _ = with_app(cast, "ben", django_capture_on_commit_callbacks)
    (first,) = Authenticator.objects.get(type=Authenticator.Type.TOTP).data["spent"]
    code = code_of(secret)
    for shown, enters in [(first, False), (code, True)]:
        client = password_given("ben")
        client.post("/login/code", {"code": shown})
        assert is_in(client) is enters
    cache.clear()  # as another process, which has not seen it
    again = password_given("ben")
    page = again.post("/login/code", {"code": f"{code[:3]} {code[3:]}"}).content.decode()
    assert ("was used already" in page, is_in(again)) == (True, False)


def test_a_recovery_code_counts_once(cast: Cast, django_capture_on_commit_callbacks: Any) -> None:
    _, codes = with_app(cast, "ben", django_capture_on_commit_callbacks)
    assert len(set(codes)) == 10
    first, second = password_given("ben"), password_given("ben")
    first.post("/login/code", {"code": codes[0]})
    second.post("/login/code", {"code": codes[0]})
    assert (is_in(first), is_in(second)) == (True, False)


def test_recovery_codes_are_shown_once(cast: Cast, django_capture_on_commit_callbacks: Any) -> None:
    _, codes = with_app(cast, "ben", django_capture_on_commit_callbacks)
    again = cast.browser("ben").get("/account/codes").content.decode()
    assert not [code for code in codes if code in again]
    assert "10 of 10 are left" in again


def test_neither_secret_nor_codes_can_be_read_in_the_database(
    cast: Cast, django_capture_on_commit_callbacks: Any
) -> None:
    secret, codes = with_app(cast, "ben", django_capture_on_commit_callbacks)
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    assert secret not in stored
    assert not [code for code in codes if code in stored]


def test_guesses_of_a_code_are_bounded_across_browsers(
    cast: Cast, django_capture_on_commit_callbacks: Any
) -> None:
    secret, _ = with_app(cast, "ben", django_capture_on_commit_callbacks)
    for _ in range(10):
        guess = password_given("ben")
        guess.post("/login/code", {"code": "000000"})
        assert not is_in(guess)
    client = Client()
    client.post("/login", {"username": "ben", "password": PASSWORD})
    assert (
        "Too many"
        in client.post("/login", {"username": "ben", "password": PASSWORD}).content.decode()
    )
    assert {"sign_in.failed", "sign_in.locked"} <= actions("ben")
    elsewhere = password_given("ben", "198.51.100.1")
    elsewhere.post("/login/code", {"code": code_of(secret)})
    assert is_in(elsewhere)


def test_a_wrong_code_says_so_and_is_counted(
    cast: Cast, django_capture_on_commit_callbacks: Any
) -> None:
    with_app(cast, "ben", django_capture_on_commit_callbacks)
    answer = password_given("ben").post("/login/code", {"code": "000000"})
    assert "Incorrect code" in answer.content.decode()
    assert FailedSignIn.objects.filter(name="ben").count() == 1


def test_what_was_typed_as_an_unknown_name_is_in_no_trail(cast: Cast) -> None:
    Client().post("/login", {"username": "my-secret-by-mistake", "password": "x"})
    assert not AuditEvent.objects.filter(action__startswith="sign_in").exists()


def test_a_factor_is_removed_and_the_codes_go_with_the_last_one(
    cast: Cast, django_capture_on_commit_callbacks: Any
) -> None:
    with_app(cast, "ben", django_capture_on_commit_callbacks)
    cast.browser("ben").post("/account/totp/remove")
    assert not Authenticator.objects.exists()
    assert "factor.removed" in actions("ben")


@pytest.fixture
def owners_need_one(settings: Settings) -> None:
    settings.SECOND_FACTOR_ROLES = ["product_owner"]


def test_a_role_that_needs_a_factor_opens_nothing_without_one(
    cast: Cast, owners_need_one: None, django_capture_on_commit_callbacks: Any
) -> None:
    browser = cast.browser("ben")
    assert browser.get("/audit/").headers["Location"] == "/account/"
    page = browser.get("/account/").content.decode()
    assert "Your role needs a second factor" in page
    refused = browser.get("/api/v1/products")
    assert (refused.status_code, refused.json()["code"]) == (403, "second_factor_needed")
    with_app(cast, "ben", django_capture_on_commit_callbacks)
    assert cast.browser("ben").get("/audit/").status_code == 200


def test_other_roles_and_machines_are_asked_for_none(cast: Cast, owners_need_one: None) -> None:
    from accounts.guard import SYSTEM_ACTOR
    from accounts.services import issue_credential

    assert cast.browser("eve").get("/audit/").status_code == 200
    _, token = issue_credential(
        SYSTEM_ACTOR, kind="ci", name="c", product_slug="orchid-demo", owner=cast.ben
    )
    machine = Client(headers={"Authorization": f"Bearer {token}"})
    assert machine.get("/api/v1/products").status_code == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("kind", ["keys/{}/remove", "totp/remove"])
def test_a_factor_goes_by_its_form_alone_so_that_the_trail_tells(
    cast: Cast, method: str, kind: str
) -> None:
    what = Authenticator.Type.WEBAUTHN if "keys" in kind else Authenticator.Type.TOTP
    ben = User.objects.get(username="ben")
    row = Authenticator.objects.create(user=ben, type=what, data={"name": "a key", "secret": "x"})
    answer = cast.browser("ben").generic(method, f"/account/{kind.format(row.pk)}")
    assert (answer.status_code, list(Authenticator.objects.all())) == (405, [row])
