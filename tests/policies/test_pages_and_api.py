"""The same generations on pages and over the API."""

import pytest
from django.test import Client

from accounts.models import Grant
from accounts.services import issue_credential
from orchid.engine.document.written import as_yaml
from policies import selectors, services
from policies.models import Product
from tests.people import Cast
from tests.policies.test_generations import FIRST, SECOND

BASE = "/products/orchid-demo/generations/"
API = "/api/v1" + BASE.rstrip("/")


@pytest.fixture
def demo(cast: Cast) -> Product:
    product = services.create_product(cast.actor("ben"), "orchid-demo", "Demo", document=FIRST)
    base = selectors.revision(selectors.generation(product, 1))
    services.draft_generation(cast.actor("ana"), product, SECOND, "Fallback on four slots", base)
    return product


@pytest.mark.parametrize("path", ["", "1/", "2/", "2/diff/1/", "new", "2/revise"])
def test_a_page_opens_for_a_reader_and_not_for_an_outsider(
    cast: Cast, demo: Product, path: str
) -> None:
    assert cast.browser("ana").get(BASE + path).status_code == 200
    assert cast.browser("sam").get(BASE + path).status_code == 404
    assert Client().get(BASE + path).headers["Location"].startswith("/login")


@pytest.mark.parametrize("path", ["7/", "2/diff/7/", "2/?revision=9"])
def test_a_generation_that_is_not_there_is_a_page_that_says_so(
    cast: Cast, demo: Product, path: str
) -> None:
    answer = cast.browser("ana").get(BASE + path)
    assert answer.status_code == 404
    assert "has no" in answer.content.decode()


def test_the_page_shows_the_figures_of_the_document(cast: Cast, demo: Product) -> None:
    text = cast.browser("ana").get(f"{BASE}2/").content.decode()
    for figure in ("$0.00026", "1,500 ms", "≥ 96 %", "$21.00", "full → compact"):
        assert figure in text


def test_a_text_is_checked_without_being_stored(cast: Cast, demo: Product) -> None:
    typed = {"title": "Try", "document": SECOND.decode(), "check": ""}
    answer = cast.browser("ana").post(f"{BASE}new", typed)
    assert answer.status_code == 200
    assert "demand_over_fleet_steady" in answer.content.decode()
    assert demo.generations.count() == 2


def test_faults_of_a_text_are_listed_and_the_text_is_kept(cast: Cast, demo: Product) -> None:
    typed = {"title": "Try", "document": SECOND.decode().replace("devices: 4", "devices: no")}
    answer = cast.browser("ana").post(f"{BASE}new", typed)
    text = answer.content.decode()
    assert answer.status_code == 422
    assert "/fleet/devices" in text
    assert "devices: no" in text


def test_a_text_is_stored_as_the_next_generation_and_revised(cast: Cast, demo: Product) -> None:
    browser = cast.browser("ana")
    browser.post(f"{BASE}new", {"title": "Third", "document": FIRST.decode(), "store": ""})
    typed = {"document": SECOND.decode(), "expected_revision": 1, "store": ""}
    assert browser.post(f"{BASE}3/revise", typed).headers["Location"] == f"{BASE}3/"
    assert browser.post(f"{BASE}3/revise", typed).status_code == 409
    assert selectors.revision(selectors.generation(demo, 3)).number == 2


def test_ci_drafts_a_generation_with_its_token_and_reads_the_difference(
    cast: Cast, demo: Product
) -> None:
    _, token = issue_credential(
        cast.actor("ben"), kind="ci", name="build", product_slug="orchid-demo", owner=cast.ana
    )
    ci = Client(headers={"Authorization": f"Bearer {token}"})
    wanted = {"title": "From CI", "document": SECOND.decode(), "base": 1}
    made = ci.post(API, wanted, "application/json")
    assert made.status_code == 201
    assert (made.json()["generation"], made.json()["created_by"]) == (3, "ci:build")
    found = ci.get(f"{API}/3/diff?base=1").json()
    assert found["required_approvals"] == {"product_owner": 1, "sre": 1}
    assert ci.get(f"{API}/3").json()["digest"] == made.json()["digest"]
    stored = selectors.revision(selectors.generation(demo, 3))
    assert (stored.created_by_user, stored.owner_user) == (None, cast.ana)


def test_a_document_with_faults_is_a_problem_with_pointers(cast: Cast, demo: Product) -> None:
    wanted = {"title": "Broken", "document": {"schema": "orchid.policy/v1"}}
    answer = cast.browser("ana").post(API, wanted, "application/json")
    assert answer.status_code == 422
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["code"] == "document_invalid"
    assert {"pointer", "code", "text"} <= set(answer.json()["errors"][0])


def test_a_list_holds_only_the_products_of_the_reader(cast: Cast, demo: Product) -> None:
    services.create_product(cast.actor("ben"), "other", "Other", template="small")
    Grant.objects.filter(user=cast.ana).update(product_slug="other")
    found = cast.browser("ana").get("/api/v1/products").json()["results"]
    assert [row["slug"] for row in found] == ["other"]
    assert cast.browser("ana").get(API).status_code == 404
    assert cast.browser("ana").get("/api/v1/generations?product=orchid-demo").status_code == 404


# Case 7
def test_of_two_browsers_that_save_one_draft_the_second_sees_both_texts(
    cast: Cast, demo: Product
) -> None:
    page, first, second = BASE + "1/revise", cast.browser("ana"), cast.browser("ben")
    text = as_yaml(selectors.revision(selectors.generation(demo, 1)).document)
    theirs = text.replace("deadline_ms: 1500", "deadline_ms: 1600", 1)
    mine = text.replace("deadline_ms: 1500", "deadline_ms: 1400", 1)
    assert theirs != text
    form = {"expected_revision": "1", "store": ""}
    assert first.post(page, {**form, "document": theirs}).status_code == 302
    refused = second.post(page, {**form, "document": mine})
    shown = refused.content.decode()
    assert refused.status_code == 409
    assert "Revision 2 by ana" in shown
    assert "deadline_ms: 1600" in shown
    assert "deadline_ms: 1400" in shown
    assert 'name="expected_revision" value="2"' in shown
    again = second.post(page, {**form, "expected_revision": "2", "document": mine})
    assert again.status_code == 302
    kept = demo.generations.get(number=1).revisions.order_by("number")
    assert [row.document["contract"]["deadline_ms"] for row in kept] == [1500, 1600, 1400]
