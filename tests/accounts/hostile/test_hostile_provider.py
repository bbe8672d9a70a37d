"""A provider of sign-on that is away, or says anything at all: a page in words, and nobody in."""

from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from pytest_django import Settings

from accounts.models import User
from tests.accounts.openid_server import OpenIdServer
from tests.accounts.test_single_sign_on import (
    LIA,
    corp,
    left,
    offer,
    offered,
    other,
    provider,
    whoever,
)

__all__ = ["corp", "offered", "other"]  # fixtures of single sign-on

CALLBACK = "/sign-on/corp/callback"
ODD: list[Any] = [None, 5, "", [1], {"a": 1}, "a\x00", "\ud800", "x" * 10_000, 1e300, True]
#: Whom the claims name, and what the token may be taken for.
NAMES = ["sub", "email", "email_verified", "name", "given_name", "preferred_username", "exp"]


@pytest.fixture
def stranger() -> Client:
    return Client(raise_request_exception=False)


def assert_told(answer: Any, what: object) -> None:
    assert answer.status_code in (200, 302, 400, 401, 403, 405, 503), (what, answer.content[:300])
    if answer.status_code >= 400:
        assert "</h1>" in answer.content.decode() or answer.status_code == 405, what


def test_no_claim_breaks_the_way_in(corp: OpenIdServer) -> None:
    for name in NAMES:
        for value in ODD:
            client = Client(raise_request_exception=False)
            with transaction.atomic():
                back = corp.approve(left(client, "corp"), LIA | {name: value})
                assert_told(client.get(CALLBACK, back), (name, value))
                assert whoever(client) not in ("ana", "ben", "cho", "dee", "eve", "sam")
                transaction.set_rollback(True)


@pytest.mark.parametrize("document", ["x", 5, {"issuer": 5}, {"authorization_endpoint": ["x"]}])
def test_no_description_of_a_provider_breaks_the_way_in(
    corp: OpenIdServer, monkeypatch: pytest.MonkeyPatch, stranger: Client, document: Any
) -> None:
    monkeypatch.setattr(corp, "described", lambda: document)
    assert_told(stranger.post("/sign-on/corp/?process=login"), document)
    assert_told(stranger.get(CALLBACK, {"code": "x", "state": "y"}), document)


@pytest.mark.parametrize(
    "tokens",
    [
        *([], "x", 5, {"access_token": 5}, {"access_token": "x", "id_token": 5}),
        *({"access_token": "x", "id_token": one} for one in ("a.b.c", "e30.e30.", "x" * 100_000)),
    ],
    ids=lambda one: f"{one!s:.40}",
)
def test_no_token_of_a_provider_breaks_the_way_in(
    corp: OpenIdServer, monkeypatch: pytest.MonkeyPatch, stranger: Client, tokens: Any
) -> None:
    back = corp.approve(left(stranger, "corp"), LIA)
    monkeypatch.setattr(corp, "exchanged", lambda form: tokens)
    assert_told(stranger.get(CALLBACK, back), tokens)
    assert not whoever(stranger)
    assert not User.objects.filter(username="lia").exists()


@pytest.mark.parametrize(
    "query",
    [
        *({}, {"code": "x"}, {"error": "access_denied"}, {"error": "x" * 10_000}),
        {"code": ["a", "b"], "state": ["c", "d"]},
        {"error": "\u202e", "error_description": "<script>"},
    ],
    ids=lambda one: f"{one!s:.40}",
)
def test_no_way_back_breaks(stranger: Client, query: dict[str, Any]) -> None:
    assert_told(stranger.get(CALLBACK, query), query)
    assert_told(stranger.post(CALLBACK, query), query)
    assert not whoever(stranger)


def test_a_provider_that_is_away_is_told_as_that(
    corp: OpenIdServer, settings: Settings, stranger: Client
) -> None:
    away = OpenIdServer()
    away.issuer = "http://127.0.0.1:1"
    offer(settings, provider(away, "corp"))
    answer = stranger.post("/sign-on/corp/?process=login")
    assert answer.status_code == 503
    assert "Your provider can't be reached." in answer.content.decode().replace("&#x27;", "'")
