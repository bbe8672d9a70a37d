"""The frame in Chromium: pictures under the strict policy, both widths, both schemes, no script."""

import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.people import PASSWORD, Cast

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.urls("tests.controlplane.plot_page"),
]
AXE = (Path(str(files("axe_core_python"))) / "axe.min.js").read_text()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    # Playwright's own event loop runs in this thread; the database is still used synchronously.
    with pytest.MonkeyPatch.context() as patched, sync_playwright() as playwright:
        patched.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def with_plot_page(settings: Any) -> None:
    own = Path(__file__).parent / "templates"
    settings.TEMPLATES = [{**settings.TEMPLATES[0], "DIRS": [*settings.TEMPLATES[0]["DIRS"], own]}]


def serious(page: Page) -> list[str]:
    page.evaluate(AXE)
    found = page.evaluate("axe.run()")["violations"]
    return [fault["id"] for fault in found if fault["impact"] in ("serious", "critical")]


def overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


def test_a_plot_draws_under_the_strict_policy_and_folds_its_table(
    chromium: Browser, live_server: Any, with_plot_page: None
) -> None:
    page, complaints = chromium.new_page(), []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{live_server.url}/plot")
    page.wait_for_selector(".plot[data-drawn] svg.main-svg")
    assert page.locator(".plot .point").count() == 2
    assert page.locator(".plot__table[open]").count() == 0
    # Loading the bundle tries to add a stylesheet for maps, which we don't draw; nothing else.
    assert len([text for text in complaints if "inline style" in text]) <= 1
    assert [text for text in complaints if "inline style" not in text] == []
    title, axis = page.locator(".xtitle").bounding_box(), page.locator(".plot").bounding_box()
    assert title
    assert axis
    assert title["y"] < axis["y"] + axis["height"]


def test_without_javascript_the_table_is_the_answer(
    chromium: Browser, live_server: Any, with_plot_page: None
) -> None:
    page = chromium.new_context(java_script_enabled=False).new_page()
    page.goto(f"{live_server.url}/plot")
    assert page.get_by_role("cell", name="2").is_visible()
    assert not page.locator(".plot__canvas").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_a_person_signs_in_and_finds_no_obstacle(
    chromium: Browser, live_server: Any, cast: Cast, width: int, scheme: Any
) -> None:
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=True
    )
    page = context.new_page()
    page.goto(f"{live_server.url}/products/new")
    page.get_by_label("Username").fill("ben")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_label("Name", exact=True).fill("Answers")
    page.get_by_label("Short name").fill("answers")
    page.get_by_role("button", name="Create the product").click()
    page.wait_for_url("**/generations/1/")
    for path in ("", "products/answers/generations/1/", "products/answers/access/", "audit/"):
        page.goto(f"{live_server.url}/{path}")
        assert serious(page) == [], path
        assert overflow(page) <= 0, path
