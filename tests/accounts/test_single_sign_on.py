"""The whole flow against a provider on this machine: who comes in, as whom, and who doesn't."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from pytest_django import Settings

from accounts.models import AuditEvent, Grant, User
from controlplane.sign_on import Provider
from tests.accounts import openid_server
from tests.accounts.openid_server import CLIENT, SECRET, OpenIdServer
from tests.people import PASSWORD, Cast

LIA = {"sub": "1", "email": "lia@example.org", "email_verified": True, "name": "Lia Li"}
LIA |= {"preferred_username": "lia"}


@pytest.fixture(scope="module")
def other() -> Iterator[OpenIdServer]:
    with openid_server.running() as server:
        yield server


@pytest.fixture(scope="module")
def corp() -> Iterator[OpenIdServer]:
    with openid_server.running() as server:
        yield server


def provider(server: OpenIdServer, name: str, **changed: Any) -> Provider:
    given: dict[str, Any] = {
        "domains": ("example.org",),
        "emails": (),
        "join": True,
        "second_factor": False,
    }
    return Provider(name, name.title(), server.issuer, CLIENT, SECRET, **(given | changed))


def offer(settings: Settings, *providers: Provider) -> None:
    settings.SIGN_ON = {one.id: one for one in providers}
    settings.SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "OAUTH_PKCE_ENABLED": True,
            "APPS": [
                {
                    "provider_id": one.id,
                    "name": one.name,
                    "client_id": one.client_id,
                    "secret": one.secret,
                    "settings": {"server_url": one.issuer},
                }
                for one in providers
            ],
        }
    }


@pytest.fixture(autouse=True)
def offered(settings: Settings, cast: Cast, corp: OpenIdServer, other: OpenIdServer) -> None:
    offer(settings, provider(corp, "corp"), provider(other, "partner", domains=("partner.test",)))


def left(client: Client, name: str, query: str = "process=login") -> str:
    """Where the provider is, as the page of leaving says it."""
    page = client.post(f"/sign-on/{name}/?{query}").content.decode()
    found = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page)
    assert found
    return unescape(found[1])


def signed_on(
    client: Client, server: OpenIdServer, claims: dict[str, Any], name: str = "corp", **more: str
) -> Any:
    back = server.approve(left(client, name, **more), claims)
    return client.get(f"/sign-on/{name}/callback", back)


def whoever(client: Client) -> str:
    pk = client.session.get("_auth_user_id")
    return User.objects.get(pk=pk).username if pk else ""


def test_somebody_new_gets_an_account_and_no_role(corp: OpenIdServer) -> None:
    client = Client()
    assert "Sign in with Corp" in client.get("/login").content.decode()
    assert signed_on(client, corp, LIA).headers["Location"] == "/"
    assert whoever(client) == "lia"
    lia = User.objects.get(username="lia")
    assert (lia.name, lia.has_usable_password()) == ("Lia Li", False)
    assert not Grant.objects.filter(user=lia).exists()
    assert client.get("/products/orchid-demo/").status_code == 404
    assert AuditEvent.objects.filter(actor="lia", action="person.joined").exists()
    assert AuditEvent.objects.get(actor="lia", action="sign_in").data["by"] == ["corp"]


def test_the_same_person_comes_back_to_the_same_account_and_page(corp: OpenIdServer) -> None:
    signed_on(Client(), corp, LIA)
    client = Client()
    again = signed_on(client, corp, LIA, query="process=login&next=/account/")
    assert (again.headers["Location"], whoever(client)) == ("/account/", "lia")
    assert User.objects.filter(email="lia@example.org").count() == 1


def test_after_signing_on_no_link_leads_to_another_site(corp: OpenIdServer) -> None:
    query = "process=login&next=https://elsewhere.example/"
    assert signed_on(Client(), corp, LIA, query=query).headers["Location"] == "/"


@pytest.mark.parametrize(
    "claims",
    [
        {"email": "lia@elsewhere.test"},
        {"email_verified": False},
        {"email": "lia@example.org.evil.test"},
        {"email": ""},
    ],
)
def test_whom_the_rules_do_not_take_gets_no_account(
    corp: OpenIdServer, claims: dict[str, Any]
) -> None:
    client = Client()
    answer = signed_on(client, corp, LIA | claims)
    assert answer.status_code == 403
    assert "no verified e-mail address" in answer.content.decode()
    assert not whoever(client)
    assert not User.objects.filter(username="lia").exists()


def test_somebody_who_moved_out_of_the_rules_is_let_in_no_longer(corp: OpenIdServer) -> None:
    signed_on(Client(), corp, LIA)
    client = Client()
    assert signed_on(client, corp, LIA | {"email": "lia@elsewhere.test"}).status_code == 403
    assert not whoever(client)


def test_each_provider_has_its_own_rules_and_people(other: OpenIdServer) -> None:
    assert signed_on(Client(), other, LIA, "partner").status_code == 403
    client = Client()
    signed_on(client, other, LIA | {"email": "lia@partner.test"}, "partner")
    assert whoever(client) == "lia"


def test_an_address_that_was_never_proved_is_not_linked(corp: OpenIdServer, cast: Cast) -> None:
    """Who waits here under somebody's address, with a password of their own, gains nothing."""
    client = Client()
    answer = signed_on(client, corp, LIA | {"email": "ana@example.org"}, query="process=login")
    assert answer.headers["Location"] == "/sign-on/taken"
    assert "never proved" in client.get("/sign-on/taken").content.decode()
    assert not whoever(client)
    assert Client().login(username="ana", password=PASSWORD)


def test_a_proved_address_is_linked(corp: OpenIdServer, cast: Cast) -> None:
    EmailAddress.objects.create(user=cast.ana, email="ana@example.org", verified=True)
    client = Client()
    signed_on(client, corp, LIA | {"email": "Ana@Example.org"})
    assert whoever(client) == "ana"
    assert AuditEvent.objects.filter(actor="ana", action="sign_on.linked").exists()


def test_somebody_signed_in_links_a_provider_and_unlinks_it(corp: OpenIdServer, cast: Cast) -> None:
    browser = cast.browser("ana")
    answer = signed_on(browser, corp, LIA | {"sub": "ana"}, query="process=connect")
    assert answer.headers["Location"] == "/account/"
    assert "Unlink Corp" in browser.get("/account/").content.decode()
    client = Client()
    signed_on(client, corp, LIA | {"sub": "ana"})
    assert whoever(client) == "ana"
    browser.post("/account/providers/corp/unlink")
    assert "Link Corp" in browser.get("/account/").content.decode()


def test_the_only_way_in_is_not_unlinked(corp: OpenIdServer) -> None:
    client = Client()
    signed_on(client, corp, LIA)
    assert client.post("/account/providers/corp/unlink").status_code == 409


def test_a_site_may_keep_new_people_out(settings: Settings, corp: OpenIdServer) -> None:
    offer(settings, provider(corp, "corp", join=False))
    client = Client()
    assert "By invitation" in signed_on(client, corp, LIA).content.decode()
    assert not User.objects.filter(username="lia").exists()


def test_somebody_who_left_is_not_let_back_in(corp: OpenIdServer) -> None:
    signed_on(Client(), corp, LIA)
    User.objects.filter(username="lia").update(is_active=False)
    client = Client()
    answer = signed_on(client, corp, LIA)
    assert (answer.status_code, whoever(client)) == (403, "")


def test_an_answer_that_nobody_asked_for_is_refused(corp: OpenIdServer) -> None:
    back = corp.approve(left(Client(), "corp"), LIA)
    victim = Client()
    assert victim.get("/sign-on/corp/callback", back).status_code == 401
    assert not whoever(victim)


def test_a_code_counts_once_and_for_its_own_browser(corp: OpenIdServer) -> None:
    client = Client()
    back = corp.approve(left(client, "corp"), LIA)
    mine = corp.approve(left(client, "corp"), LIA)
    swapped = {"code": back["code"], "state": mine["state"]}
    assert client.get("/sign-on/corp/callback", swapped).status_code == 401
    assert not whoever(client)


def test_turning_back_at_the_provider_says_so(corp: OpenIdServer) -> None:
    client = Client()
    back = corp.approve(left(client, "corp"), LIA)
    asked = {"error": "access_denied", "state": back["state"]}
    assert client.get("/sign-on/corp/callback", asked).headers["Location"] == "/sign-on/cancelled"
    assert "turned back" in client.get("/sign-on/cancelled").content.decode()


def test_an_unknown_provider_is_not_there() -> None:
    assert Client().post("/sign-on/nobody/").status_code == 404


def test_who_has_no_password_confirms_at_the_provider(
    settings: Settings, corp: OpenIdServer
) -> None:
    client = Client()
    signed_on(client, corp, LIA)
    settings.CONFIRMED_FOR_S = 0
    page = client.get("/confirm?next=/account/keys/add").content.decode()
    asked = unescape(re.findall(r'action="/sign-on/corp/\?([^"]+)"', page)[0])
    url = left(client, "corp", asked)
    assert "prompt=login" in url
    settings.CONFIRMED_FOR_S = 60
    back = client.get("/sign-on/corp/callback", corp.approve(url, LIA))
    assert back.headers["Location"] == "/account/keys/add"
    assert client.get("/account/keys/add").status_code == 200
