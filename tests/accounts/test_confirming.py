"""What moves traffic asks for somebody who showed lately who they are; within that, two clicks."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.guard import CONFIRMED, SYSTEM_ACTOR
from accounts.models import AuditEvent, Credential, User
from accounts.services import grant
from releases.models import Publication
from tests.accounts.routes import TABLE, is_page
from tests.accounts.test_route_matrix import happened, sound
from tests.accounts.things import Things, things
from tests.people import PASSWORD
from tests.releases.releases_cast import SLUG, edge, live_product
from tests.releases.releases_cast import cast as releases_people

ROLLBACK = f"/products/{SLUG}/rollback/"


@pytest.fixture
def product(db: None, settings: Settings, tmp_path: Any) -> Any:
    settings.KEYS_DIR = tmp_path / "keys"
    people = releases_people()
    for person in people.values():
        person.set_password(PASSWORD)
        person.save()
    return live_product()


def browser(name: str, signed_in_ago_s: float = 0) -> Client:
    client = Client()
    client.post("/login", {"username": name, "password": PASSWORD})
    if signed_in_ago_s:
        session = client.session
        session["signed_in_at"] -= signed_in_ago_s
        for one in session["account_authentication_methods"]:
            one["at"] -= signed_in_ago_s
        session.save()
    return client


def test_a_page_that_moves_traffic_asks_a_stale_sign_in_to_confirm_and_leads_back(
    product: Any,
) -> None:
    client = browser("dee", signed_in_ago_s=1900)
    asked = client.get(ROLLBACK)
    assert asked.headers["Location"].startswith("/confirm?next=")
    page = client.get(asked.headers["Location"], follow=True)
    assert page.redirect_chain[-1][0].startswith("/confirm/password?next=")
    wrong = client.post(page.redirect_chain[-1][0], {"password": "wrong"})
    assert wrong.status_code == 200
    assert client.get(ROLLBACK).status_code == 302
    right = client.post(page.redirect_chain[-1][0], {"password": PASSWORD})
    assert right.headers["Location"] == ROLLBACK
    assert client.get(ROLLBACK).status_code == 200
    assert AuditEvent.objects.filter(actor="dee", action="sign_in.confirmed").exists()
    assert AuditEvent.objects.filter(object_id="dee", action="sign_in.failed").exists()


def test_within_the_time_nothing_is_asked(product: Any) -> None:
    assert browser("dee", signed_in_ago_s=1700).get(ROLLBACK).status_code == 200


#: Each act that asks who one is, and what its form holds.
FORMS = {
    "rollback/": {"reason": "p95 doubled", "leaves": "sha256:abc"},
    "rollback/drill": {},
    "emergency/publish": {"proposal": "4", "reason": "p95 doubled"},
    "emergency/cap": {"tenant": "acme", "limit": "max_usd", "reason": "p95 doubled"},
    "proposals/4/publish": {"expected_version": "3"},
    "rollout/4/pause": {"expected_version": "3", "reason": "p95 doubled"},
    "rollout/4/hold-back": {"segment": "task=chat", "reason": "p95 doubled"},
    "second-looks/4/revert": {"expected_version": "1", "reason": "p95 doubled"},
}


@pytest.mark.parametrize("path", FORMS)
def test_what_was_written_before_a_stale_button_waits_behind_the_confirmation(
    product: Any, path: str
) -> None:
    client, action = browser("dee", signed_in_ago_s=1900), f"/products/{SLUG}/{path}"
    before = Publication.objects.count()
    sender = f"http://testserver/products/{SLUG}/publications/?cursor="
    answer = client.post(action, FORMS[path], headers={"Referer": sender})
    assert answer.headers["Location"] == "/confirm?next=%2Fconfirm%2Fgo-on"
    led = client.post(
        client.get(answer.headers["Location"]).headers["Location"], {"password": PASSWORD}
    )
    page = client.get(led.headers["Location"]).content.decode()
    assert f'action="{action}"' in page
    assert f'href="/products/{SLUG}/publications/?cursor="' in page
    assert all(f'name="{name}"' in page and value in page for name, value in FORMS[path].items())
    assert Publication.objects.count() == before


def test_a_reason_survives_until_it_is_sent_and_no_longer(product: Any) -> None:
    client, invite = browser("ben", signed_in_ago_s=1900), f"/products/{SLUG}/access/invite"
    wish = {"email": "fay@example.org", "role": "auditor"}
    by_htmx = client.post(invite, wish, headers={"HX-Request": "true"})
    assert by_htmx.headers["HX-Redirect"] == "/confirm?next=%2Fconfirm%2Fgo-on"
    client.post("/confirm/password?next=/confirm/go-on", {"password": PASSWORD})
    client.post(f"/products/{SLUG}/proposals/open", {"generation": 1, "title": "Another"})
    assert "fay@example.org" in client.get("/confirm/go-on").content.decode()
    assert client.post(invite, wish).status_code in (200, 302)
    assert client.get("/confirm/go-on").headers["Location"] == "/"


def test_a_secret_is_never_kept(product: Any) -> None:
    client = browser("dee", signed_in_ago_s=1900)
    answer = client.post(ROLLBACK, {"reason": "worse", "password": PASSWORD})
    assert answer.headers["Location"] == "/confirm?next=%2F"
    assert client.get("/confirm/go-on").headers["Location"] == "/"


def test_a_page_that_looks_again_by_itself_takes_nobody_away_from_what_they_write(
    product: Any,
) -> None:
    stale = browser("dee", signed_in_ago_s=1900)
    looked = stale.get(ROLLBACK, headers={"HX-Request": "true"})
    assert (looked.status_code, "HX-Redirect" in looked.headers) == (200, False)
    asked = stale.get(f"/products/{SLUG}/emergency/", headers={"HX-Request": "true"})
    assert "HX-Redirect" in asked.headers


def test_another_site_is_never_what_one_is_led_back_to(product: Any) -> None:
    client = browser("dee", signed_in_ago_s=1900)
    client.post(ROLLBACK, headers={"Referer": "https://elsewhere.example/x"})
    assert 'href="/">Back' in client.get("/confirm/go-on").content.decode()
    led = client.get("/confirm?next=https://elsewhere.example/x").headers["Location"]
    assert led == "/confirm/password?next=%2F"


def test_a_button_after_the_session_ended_leads_to_a_page_and_not_to_a_button(product: Any) -> None:
    sender = f"http://testserver{ROLLBACK}"
    answer = Client().post(f"{ROLLBACK}drill", headers={"Referer": sender})
    assert answer.headers["Location"] == f"/login?next={ROLLBACK}"


def test_a_session_over_the_api_is_asked_too(product: Any) -> None:
    url = f"/api/v1/products/{SLUG}/rollbacks"
    stale = browser("dee", signed_in_ago_s=1900).post(url, {"reason": "worse"}, "application/json")
    assert (stale.status_code, stale.json()["code"]) == (403, "confirmation_needed")
    fresh = browser("dee").post(url, {"reason": "worse"}, "application/json")
    assert fresh.json().get("code") != "confirmation_needed"


def asked_to_confirm(client: Client, route: str, there: Things) -> bool:
    """Whether a well-formed request to act leads to a confirmation and to nothing else."""
    before, path, fields = happened(), there.path(route), sound() | there.fields_of(route)
    if is_page(route):
        answer = client.post(path, {name: str(value) for name, value in fields.items()})
        asked = answer.headers.get("Location", "").startswith("/confirm?")
    else:
        answer = client.post(path, fields, "application/json")
        asked = answer.status_code == 403 and answer.json()["code"] == "confirmation_needed"
    return asked and happened() == before


def test_every_act_that_needs_a_confirmation_asks_a_stale_session_for_it_by_every_door(
    db: None, settings: Settings, tmp_path: Any
) -> None:
    """From the table of routes: pages and API alike, so that no new act is forgotten."""
    settings.KEYS_DIR = tmp_path / "keys"
    there = things()
    ben, client = User.objects.get(username="ben"), Client()
    grant(SYSTEM_ACTOR, ben, "sre")
    client.force_login(ben)
    settings.CONFIRMED_FOR_S = 0
    acts = [
        route
        for route, (_, need) in TABLE.items()
        if need is not None and CONFIRMED.intersection(need.permissions)
    ]
    assert len(acts) > 40
    assert [route for route in acts if not asked_to_confirm(client, route, there)] == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("edges", {"name": "edge-9"}),
        ("edges/x/rotate", {"credential": 1, "reason": "due"}),
        ("edges/x/revoke", {"reason": "stolen"}),
        ("edges/x/retire", {"reason": "gone", "abandon": True}),
        ("edges/x/share", {"share": 2, "reason": "big"}),
        ("invitations", {"email": "kim@example.org", "role": "engineer"}),
        ("webhooks", {"url": "https://example.org/hook", "kinds": ["breach"]}),
    ],
)
def test_a_session_that_lets_in_or_out_by_the_api_confirms_first(
    product: Any, settings: Settings, path: str, body: dict[str, Any]
) -> None:
    edge(product, "x")
    body = body | ({"credential": Credential.objects.get().pk} if "credential" in body else {})
    client, url = browser("ben"), f"/api/v1/products/{SLUG}/{path}"
    fresh, settings.CONFIRMED_FOR_S = settings.CONFIRMED_FOR_S, 0
    before = happened()
    refused = client.post(url, body, "application/json")
    assert (refused.status_code, refused.json()["code"]) == (403, "confirmation_needed")
    assert happened() == before
    settings.CONFIRMED_FOR_S = fresh
    assert client.post(url, body, "application/json").status_code in (200, 201)


def test_what_is_only_shown_to_owners_asks_for_no_confirmation(
    product: Any, settings: Settings
) -> None:
    settings.CONFIRMED_FOR_S, client = 0, browser("ben")
    of_one = f"/api/v1/products/{SLUG}"
    for path in (f"/products/{SLUG}/access/", f"{of_one}/invitations", f"{of_one}/webhooks"):
        assert client.get(path).status_code == 200, path


def test_who_may_not_is_told_so_before_being_asked_anything(product: Any) -> None:
    assert browser("ana", signed_in_ago_s=1900).get(ROLLBACK).status_code == 403


def test_reading_is_never_asked(product: Any) -> None:
    stale = browser("dee", signed_in_ago_s=1900)
    assert stale.get(f"/products/{SLUG}/publications/").status_code == 200
