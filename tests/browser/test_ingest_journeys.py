"""What people do on the pages of what came in: map a model, look into a request, try again."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Served
from tests.browser.test_every_page import PHONE, context

pytestmark = [pytest.mark.browser, pytest.mark.django_db]

PRODUCT = "/products/orchid-demo/"


@pytest.fixture
def page(chromium: Browser, served: Served) -> Iterator[Page]:
    with context(chromium, served, "ana") as window:
        yield window.new_page()


def test_a_model_gets_its_route_with_one_click_and_its_latency_is_there(page: Page) -> None:
    page.goto(PRODUCT + "sources/")
    expect(page.get_by_text("executions of full, not mapped")).to_be_visible()
    page.get_by_role("button", name="Map to full").click()
    expect(page.get_by_role("button", name="Map to full")).to_have_count(0)
    page.goto(PRODUCT + "engine/")
    table = page.get_by_role("region", name="Executions by route and model")
    expect(table.get_by_role("row").nth(1)).to_contain_text("full")
    page.get_by_role("button", name="Unmap full").click()
    expect(page.get_by_role("button", name="Map to full")).to_be_visible()


def test_an_attempt_leads_to_its_request_drawn_on_its_clocks(page: Page, served: Served) -> None:
    page.goto(PRODUCT + "attempts/")
    page.get_by_role("region", name="Attempts").get_by_role("link").first.click()
    picture = page.get_by_role("img", name="Phases of the request on each clock")
    expect(picture).to_be_visible()
    assert page.locator(".waterfall__bars rect").count() >= 10
    expect(page.get_by_role("cell", name="validation").first).to_be_visible()


def test_a_waterfall_is_read_on_a_phone_without_a_script(chromium: Browser, served: Served) -> None:
    path = next(path for _, path in served.pages if "/requests/2" in path)
    with context(chromium, served, "ana", size=PHONE, script=False) as window:
        page = window.new_page()
        page.goto(path)
        bars = page.locator(".waterfall__bars").first.bounding_box()
        assert bars is not None
        assert bars["width"] > 300
        assert page.locator(".waterfall__bars rect").count() >= 10


def test_a_batch_that_was_set_aside_is_tried_again_from_the_sources(page: Page) -> None:
    page.goto(PRODUCT + "sources/")
    page.get_by_role("button", name="Try metrics-four again").click()
    expect(page.get_by_text("Stored, not yet counted")).to_be_visible()
