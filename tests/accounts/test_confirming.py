"""What moves traffic asks for somebody who showed lately who they are; within that, two clicks."""

from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import AuditEvent
from releases.models import Publication
from tests.people import PASSWORD
from tests.releases.releases_cast import SLUG, live_product
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


def test_a_stale_button_leads_back_to_the_page_it_is_on_and_does_nothing(product: Any) -> None:
    client = browser("dee", signed_in_ago_s=1900)
    before = Publication.objects.count()
    sender = f"http://testserver/products/{SLUG}/publications/?cursor="
    answer = client.post(ROLLBACK, {"reason": "worse"}, headers={"Referer": sender})
    assert answer.headers["Location"] == (
        f"/confirm?next=%2Fproducts%2F{SLUG}%2Fpublications%2F%3Fcursor%3D"
    )
    by_htmx = client.post(ROLLBACK, {"reason": "worse"}, headers={"HX-Request": "true"})
    assert by_htmx.headers["HX-Redirect"] == "/confirm?next=%2F"
    assert Publication.objects.count() == before


def test_another_site_is_never_what_one_is_led_back_to(product: Any) -> None:
    client = browser("dee", signed_in_ago_s=1900)
    answer = client.post(ROLLBACK, headers={"Referer": "https://elsewhere.example/x"})
    assert answer.headers["Location"] == "/confirm?next=%2F"
    led = client.get("/confirm?next=https://elsewhere.example/x").headers["Location"]
    assert led == "/confirm/password?next=%2F"


def test_a_session_over_the_api_is_asked_too(product: Any) -> None:
    url = f"/api/v1/products/{SLUG}/rollbacks"
    stale = browser("dee", signed_in_ago_s=1900).post(url, {"reason": "worse"}, "application/json")
    assert (stale.status_code, stale.json()["code"]) == (403, "confirmation_needed")
    fresh = browser("dee").post(url, {"reason": "worse"}, "application/json")
    assert fresh.json().get("code") != "confirmation_needed"


def test_who_may_not_is_told_so_before_being_asked_anything(product: Any) -> None:
    assert browser("ana", signed_in_ago_s=1900).get(ROLLBACK).status_code == 403


def test_reading_is_never_asked(product: Any) -> None:
    stale = browser("dee", signed_in_ago_s=1900)
    assert stale.get(f"/products/{SLUG}/publications/").status_code == 200
