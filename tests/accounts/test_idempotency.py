"""A key belongs to whoever sent it: a namesake of another product never reads its answer."""

from typing import Any

import pytest
from django.test import Client

from accounts.guard import SYSTEM_ACTOR
from accounts.services import issue_credential
from policies.services import create_product
from tests.people import Cast
from tests.small_policy import small_document


def machine(cast: Cast, slug: str) -> Client:
    _, token = issue_credential(
        SYSTEM_ACTOR, kind="ci", name="pipeline", product_slug=slug, owner=cast.ana
    )
    return Client(headers={"Authorization": f"Bearer {token}", "Idempotency-Key": "build-1"})


@pytest.mark.django_db
def test_a_namesake_of_another_product_gets_no_answer_of_ours(cast: Cast) -> None:
    create_product(SYSTEM_ACTOR, "orchid-small", "Small", document=small_document())
    url, asked = "/api/v1/proposals", {"product": "orchid-small", "generation": 1, "title": "First"}
    ours, theirs = machine(cast, "orchid-small"), machine(cast, "orchid-other")
    first = ours.post(url, asked, content_type="application/json")
    again = ours.post(url, asked, content_type="application/json")
    assert (first.status_code, again.json()) == (201, first.json())
    assert again.headers["Idempotency-Replayed"] == "true"
    assert theirs.post(url, asked, content_type="application/json").status_code == 404


@pytest.mark.django_db
def test_a_key_serves_one_request(cast: Cast) -> None:
    create_product(SYSTEM_ACTOR, "orchid-small", "Small", document=small_document())
    url, asked = "/api/v1/proposals", {"product": "orchid-small", "generation": 1, "title": "First"}
    ours = machine(cast, "orchid-small")
    ours.post(url, asked, content_type="application/json")
    other = ours.post(url, asked | {"title": "Second"}, content_type="application/json")
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


@pytest.mark.django_db
def test_a_persons_session_may_send_a_key_too(cast: Cast) -> None:
    create_product(SYSTEM_ACTOR, "orchid-small", "Small", document=small_document())
    url, asked = "/api/v1/proposals", {"product": "orchid-small", "generation": 1, "title": "First"}
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(cast.ana)
    browser.cookies["csrftoken"] = "c" * 32
    headers = {"Idempotency-Key": "click-1", "X-CSRFToken": "c" * 32}

    def post(body: dict[str, Any]) -> Any:
        return browser.post(url, body, content_type="application/json", headers=headers)

    first, again = post(asked), post(asked)
    assert (first.status_code, again.json()) == (201, first.json())
    assert post(asked | {"title": "Second"}).json()["code"] == "idempotency_key_reused"
