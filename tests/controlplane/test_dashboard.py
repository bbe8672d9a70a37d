import pytest
from django.test import Client

from accounts.models import Grant
from policies import services
from tests.people import Cast


@pytest.fixture
def two_products(cast: Cast) -> Cast:
    for slug, name in (("one", "First answers"), ("two", "Second answers")):
        services.create_product(cast.actor("ben"), slug, name, template="small")
    return cast


@pytest.mark.django_db
def test_nobody_signed_in_is_sent_to_sign_in() -> None:
    assert Client().get("/").headers["Location"] == "/login?next=/"


def test_each_reader_sees_the_products_that_are_open_to_them(two_products: Cast) -> None:
    Grant.objects.filter(user=two_products.dee).update(product_slug="two")
    text = two_products.browser("dee").get("/").content.decode()
    assert "Second answers" in text
    assert "First answers" not in text
    assert "Nothing is published yet" in text


def test_an_empty_dashboard_says_what_to_do(cast: Cast) -> None:
    assert "/products/new" in cast.browser("ben").get("/").content.decode()
    assert "invite you" in cast.browser("sam").get("/").content.decode()


def test_htmx_gets_the_part_that_changes_and_a_browser_the_page(two_products: Cast) -> None:
    browser = two_products.browser("ana")
    part = browser.get("/", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert "First answers" in part


def test_only_pages_that_one_may_open_are_in_the_navigation(two_products: Cast) -> None:
    page = "/products/one/generations/"
    assert "/products/one/access/" in two_products.browser("ben").get(page).content.decode()
    text = two_products.browser("ana").get(page).content.decode()
    assert "/products/one/access/" not in text
    assert 'href="/audit/"' not in text
