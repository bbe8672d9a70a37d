"""The editor while somebody types: checks come by themselves, and the cursor stays."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Served
from tests.browser.test_every_page import context

pytestmark = [pytest.mark.browser, pytest.mark.django_db]


@pytest.fixture
def page(chromium: Browser, served: Served) -> Iterator[Page]:
    with context(chromium, served, "ana") as window:
        page = window.new_page()
        page.goto("/products/orchid-demo/generations/new")
        yield page


def test_a_fault_shows_while_one_types_and_its_link_leads_to_the_line(page: Page) -> None:
    text = page.locator("#id_document")
    lines = text.input_value().split("\n")
    line = next(n for n, one in enumerate(lines, 1) if one.startswith("fleet:"))
    before = sum(len(one) + 1 for one in lines[: line - 1])
    text.evaluate("(area, at) => { area.focus(); area.setSelectionRange(at, at); }", before)
    page.keyboard.type("x")
    expect(page.locator("#checks-summary")).to_contain_text("fault")
    # Only the checks were replaced: whoever types goes on where they were.
    assert text.evaluate("area => [document.activeElement === area, area.selectionStart]") == [
        True,
        before + 1,
    ]
    link = page.locator("#checks a", has_text=f"Line {line}").first
    link.click()
    expect(page.locator(".editor__lines .is-error", has_text=str(line)).first).to_be_visible()
    chosen = text.evaluate("area => area.value.slice(area.selectionStart, area.selectionEnd)")
    assert chosen == "xfleet:"
    page.keyboard.press("Home")
    page.keyboard.press("Delete")
    expect(page.locator("#checks-summary")).not_to_contain_text("fault")


def test_the_tab_key_leaves_the_text(page: Page) -> None:
    page.locator("#id_document").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "store"
