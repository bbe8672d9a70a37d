import pytest

from policies import selectors
from policies.models import Product
from tests.people import Cast

NEW = {"name": "Support answers", "slug": "support-answers", "template": "reference"}


def test_a_product_is_born_on_a_page_with_a_first_draft(cast: Cast) -> None:
    answer = cast.browser("ben").post("/products/new", NEW)
    assert answer.headers["Location"] == "/products/support-answers/generations/1/"
    product = Product.objects.get()
    document = selectors.document_of(selectors.revision(selectors.generation(product, 1)).digest)
    assert (document.product, document.fleet.devices) == ("support-answers", 28)


def test_a_product_is_born_over_the_api_once_for_one_key(cast: Cast) -> None:
    browser = cast.browser("ben")
    key = {"Idempotency-Key": "k-1"}
    first = browser.post("/api/v1/products", NEW, "application/json", headers=key)
    again = browser.post("/api/v1/products", NEW, "application/json", headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert again.headers["Idempotency-Replayed"] == "true"
    assert Product.objects.count() == 1


def test_a_key_used_for_something_else_is_refused(cast: Cast) -> None:
    browser, key = cast.browser("ben"), {"Idempotency-Key": "k-1"}
    browser.post("/api/v1/products", NEW, "application/json", headers=key)
    other = {**NEW, "slug": "other"}
    answer = browser.post("/api/v1/products", other, "application/json", headers=key)
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")


def test_a_refusal_does_not_use_up_its_key(cast: Cast) -> None:
    browser, key = cast.browser("ben"), {"Idempotency-Key": "k-1"}
    wrong = {**NEW, "template": "nothing"}
    assert (
        browser.post("/api/v1/products", wrong, "application/json", headers=key).status_code == 400
    )
    assert browser.post("/api/v1/products", NEW, "application/json", headers=key).status_code == 201


@pytest.mark.parametrize("slug", ["new", "Big", "9lives", "a_b"])
def test_a_name_that_no_address_could_carry_is_refused(cast: Cast, slug: str) -> None:
    wanted = {**NEW, "slug": slug}
    answer = cast.browser("ben").post("/api/v1/products", wanted, "application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_slug")


def test_a_taken_short_name_is_told_on_the_page(cast: Cast) -> None:
    browser = cast.browser("ben")
    browser.post("/products/new", NEW)
    answer = browser.post("/products/new", NEW)
    assert answer.status_code == 409
    assert "already" in answer.content.decode()


@pytest.mark.parametrize("name", ["ana", "dee", "eve", "sam"])
def test_who_does_not_administer_everything_creates_no_product(cast: Cast, name: str) -> None:
    assert cast.browser(name).post("/products/new", NEW).status_code == 403
    answer = cast.browser(name).post("/api/v1/products", NEW, "application/json")
    assert answer.status_code == 403
    assert not Product.objects.exists()
