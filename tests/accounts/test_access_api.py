"""Tokens, roles and invitations by the API: what the Access page does, and no more."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuditEvent, Credential, Grant, IdempotentAnswer, Invitation
from tests.people import Cast

SLUG = "orchid-demo"
API = f"/api/v1/products/{SLUG}/"
CI = {"kind": "ci", "name": "nightly", "scopes": ["view"]}


def post(cast: Cast, path: str, body: Any = None, by: str = "ben", **headers: str) -> Any:
    return cast.browser(by).post(API + path, body or {}, "application/json", headers=headers)


def works(token: str) -> bool:
    client = Client(headers={"Authorization": f"Bearer {token}"})
    return client.get("/api/v1/products").status_code == 200


def test_a_token_is_in_the_answer_that_issues_it_and_nowhere_else(cast: Cast) -> None:
    made = post(cast, "tokens", CI, **{"Idempotency-Key": "k1"})
    assert made.status_code == 201, made.json()
    token = made.json()["token"]
    assert works(token)
    (listed,) = cast.browser("ben").get(API + "tokens").json()["items"]
    assert (listed["name"], listed["scopes"], listed["owner"]) == ("nightly", ["view"], "ben")
    assert not {"token", "token_hash"} & set(listed)
    # A repeated request is refused by the name that is taken, and no stored answer keeps a token.
    again = post(cast, "tokens", CI, **{"Idempotency-Key": "k1"})
    assert (again.status_code, again.json()["code"]) == (409, "credential_exists")
    assert token not in str(list(IdempotentAnswer.objects.values()))
    assert token not in str(list(AuditEvent.objects.values()))


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "root"},
        {"name": "a b"},
        {"name": ""},
        {"scopes": ["administer"]},
        {"kind": "otel"},
        {"lifetime_days": 0},
    ],
)
def test_a_token_that_could_not_be_is_refused(cast: Cast, wrong: dict[str, Any]) -> None:
    assert post(cast, "tokens", CI | wrong).status_code == 400
    assert not Credential.objects.exists()


def test_a_token_is_replaced_with_an_overlap_and_revoked(cast: Cast) -> None:
    first = post(cast, "tokens", CI | {"lifetime_days": None}).json()
    assert first["expires_at"] is None
    path = f"tokens/{first['id']}/rotate"
    second = post(cast, path, {"reason": "due", "overlap_s": 60}, **{"Idempotency-Key": "k"}).json()
    assert (works(first["token"]), works(second["token"])) == (True, True)
    ends_at = Credential.objects.get(pk=first["id"]).expires_at
    assert ends_at is not None
    assert ends_at <= timezone.now() + timedelta(seconds=60)
    assert post(cast, path, {"reason": "due"}).json()["code"] == "credential_over"
    assert not IdempotentAnswer.objects.exists()
    for _ in range(2):
        gone = post(cast, f"tokens/{second['id']}/revoke", {"reason": "leaked"})
        assert (gone.status_code, bool(gone.json()["revoked_at"])) == (200, True)
    assert not works(second["token"])


def test_a_role_is_given_and_taken(cast: Cast) -> None:
    given = post(cast, "roles", {"username": "sam", "role": "engineer"})
    assert (given.status_code, given.json()["username"]) == (201, "sam")
    held = cast.browser("ben").get(API + "roles").json()["items"]
    assert ("sam", "engineer", SLUG) in {(o["username"], o["role"], o["product"]) for o in held}
    taken = post(cast, f"roles/{given.json()['id']}/take", {"reason": "moved"})
    assert (taken.status_code, taken.json()["username"]) == (200, "sam")
    assert not Grant.objects.filter(user=cast.sam).exists()
    assert post(cast, "roles", {"username": "nobody", "role": "sre"}).status_code == 404
    assert post(cast, "roles", {"username": "sam", "role": "ci"}).status_code == 400


@pytest.mark.parametrize("by", ["ana", "dee", "eve"])
def test_only_owners_let_in_and_the_right_is_asked_before_the_body(cast: Cast, by: str) -> None:
    made = post(cast, "tokens", CI).json()
    role = Grant.objects.get(user=cast.ana)
    for path in (
        "tokens",
        f"tokens/{made['id']}/rotate",
        f"tokens/{made['id']}/revoke",
        "tokens/9999/revoke",
        "roles",
        f"roles/{role.pk}/take",
        "invitations/9999/withdraw",
    ):
        assert post(cast, path, by=by).status_code == 403, path
    for path in ("tokens", "roles"):
        assert cast.browser(by).get(API + path).status_code == 403
    assert post(cast, "tokens", CI, by="sam").status_code == 404


def test_a_session_confirms_before_it_lets_in(cast: Cast, settings: Settings) -> None:
    made = post(cast, "tokens", CI).json()
    settings.CONFIRMED_FOR_S = 0
    for path, body in {
        "tokens": CI | {"name": "b"},
        f"tokens/{made['id']}/rotate": {"reason": "x"},
        f"tokens/{made['id']}/revoke": {"reason": "x"},
        "roles": {"username": "sam", "role": "sre"},
    }.items():
        assert post(cast, path, body).json()["code"] == "confirmation_needed", path
    assert cast.browser("ben").get(API + "tokens").status_code == 200


INVITED = {"email": "kim@example.org", "role": "sre"}


def sent(cast: Cast) -> tuple[Invitation, str]:
    link = post(cast, "invitations", INVITED).json()["link"]
    return Invitation.objects.latest("id"), link.removeprefix("http://testserver")


@pytest.mark.parametrize("door", ["page", "api"])
def test_a_withdrawn_invitation_gives_nothing(cast: Cast, door: str) -> None:
    invitation, link = sent(cast)
    for _ in range(2):
        if door == "page":
            asked = {"invitation": invitation.pk}
            answer = cast.browser("ben").post(f"/products/{SLUG}/access/withdraw", asked)
        else:
            answer = post(cast, f"invitations/{invitation.pk}/withdraw")
        assert answer.status_code == {"page": 302, "api": 200}[door]
    assert Client().get(link).status_code == 404
    assert cast.browser("sam").post(link).status_code == 404
    assert not Grant.objects.filter(user=cast.sam).exists()
    assert cast.browser("ben").get(API + "invitations").json()["items"] == []
    assert (
        "kim@example.org"
        not in cast.browser("ben").get(f"/products/{SLUG}/access/").content.decode()
    )
    assert AuditEvent.objects.filter(action="invitation.withdrawn").count() == 1


def test_an_invitation_that_was_taken_up_is_not_withdrawn(cast: Cast) -> None:
    invitation, link = sent(cast)
    cast.browser("sam").post(link)
    refused = post(cast, f"invitations/{invitation.pk}/withdraw")
    assert (refused.status_code, refused.json()["code"]) == (409, "invitation_accepted")
    other = post(cast, f"invitations/{invitation.pk}/withdraw", by="sam")
    assert other.status_code == 403


@pytest.mark.parametrize("lost", ["role", "account"])
def test_an_invitation_is_worth_what_its_sender_may_give_now(cast: Cast, lost: str) -> None:
    _, link = sent(cast)
    if lost == "role":
        Grant.objects.filter(user=cast.ben).update(role="engineer")
    else:
        cast.browser("cho").post("/people/ben/end", {"reason": "left"})
    for client in (Client(), cast.browser("sam")):
        page = client.get(link)
        assert page.status_code == 404
        assert "Ben, who sent this invitation" in page.content.decode()
    joined = {"username": "kim", "password": "a-long-enough-one"}
    assert Client().post(link, joined).status_code == 404
    assert cast.browser("sam").post(link).status_code == 404
    assert not Grant.objects.filter(user=cast.sam).exists()
