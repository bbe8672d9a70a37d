"""Every page: no serious fault for axe, on a phone, in the dark, without a script, by keyboard."""

import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from django.urls import resolve
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

from tests.accounts.routes import HALL, OF_PRODUCTS
from tests.browser.conftest import Served

# The database is seeded for the folder; the mark is what has pytest-django make it.
pytestmark = [pytest.mark.browser, pytest.mark.django_db]

NOWHERE = "/nowhere"
AXE = (files("axe_core_python") / "axe.min.js").read_text()
#: What answers GET and is no page to look at: a file, a program's, or a step on the way to a page.
FILES = frozenset(
    {
        "api/schema",
        "audit/export.csv",
        "audit/export.jsonl",
        "healthz",
        "metrics",
        "readyz",
        "schemas/orchid.policy.v1.json",
        "products/<slug:slug>/economics.csv",
        "products/<slug:slug>/gates/evaluations/<int:pk>/packet",
        "products/<slug:slug>/proposals/<int:pk>/record.json",
        "products/<slug:slug>/proposals/<int:pk>/record.md",
    }
)
#: Pages that need a state which no seed has: a real security key, a provider, half a sign-in.
ELSEWHERE = frozenset(
    {
        "account/keys/<int:pk>/remove",
        "confirm",
        "confirm/key",
        "login/code",
        "sign-on/<slug:provider_id>/callback",
        "sign-on/cancelled",
        "sign-on/taken",
    }
)
PHONE, DESK = ViewportSize(width=390, height=844), ViewportSize(width=1440, height=900)


def context(
    chromium: Browser,
    served: Served,
    who: str,
    *,
    size: ViewportSize = DESK,
    theme: Literal["light", "dark"] = "light",
    script: bool = True,
) -> BrowserContext:
    """A window of one person. The policy of the pages is put aside, since axe is no page's own."""
    opened = chromium.new_context(
        base_url=served.url,
        viewport=size,
        color_scheme=theme,
        java_script_enabled=script,
        bypass_csp=True,
        reduced_motion="reduce",
    )
    if who:
        session = {"name": "sessionid", "value": served.sessions[who], "url": served.url}
        opened.add_cookies([session])  # type: ignore[list-item]
    return opened


def faults(page: Page) -> list[str]:
    """What axe calls serious or critical, each with the first element that has it."""
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def obstacles(
    chromium: Browser, served: Served, pages: list[tuple[str, str]], **looks: Any
) -> list[str]:
    """What axe finds on these pages, and those that scroll sideways."""
    wrong: list[str] = []
    for who in sorted({who for who, _ in pages}):
        with context(chromium, served, who, **looks) as window:
            page = window.new_page()
            for path in (path for each, path in pages if each == who):
                page.goto(path)
                wrong += [f"{path} {fault}" for fault in faults(page)]
                over = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                wrong += [f"{path} is {over} px too wide"] if over > 0 else []
    return wrong


def test_every_page_of_the_table_of_addresses_is_looked_at(served: Served) -> None:
    looked_at = {resolve(urlsplit(path).path).route for _, path in served.pages if path != NOWHERE}
    pages = {path for path, (get, _) in {**HALL, **OF_PRODUCTS}.items() if get is not None}
    assert sorted(pages - looked_at - FILES - ELSEWHERE) == []


def test_on_a_phone_no_page_has_a_serious_fault_or_scrolls_sideways(
    chromium: Browser, served: Served
) -> None:
    assert obstacles(chromium, served, served.pages, size=PHONE) == []


def test_in_the_dark_no_page_of_a_decision_has_a_serious_fault(
    chromium: Browser, served: Served
) -> None:
    tails = ("demo/", "gates/", "edges/", "rollout/", "rollback/", "generations/1/")
    pages = [
        one
        for one in served.pages
        if one[1] == "/" or "proposals/" in one[1] or one[1].endswith(tails)
    ]
    assert obstacles(chromium, served, pages, theme="dark") == []


def test_every_page_says_its_piece_without_javascript(chromium: Browser, served: Served) -> None:
    wrong: list[str] = []
    for who in sorted({who for who, _ in served.pages}):
        with context(chromium, served, who, script=False) as window:
            page = window.new_page()
            for path in (path for each, path in served.pages if each == who):
                answer = page.goto(path)
                wanted = 404 if path == NOWHERE else 200
                if answer is None or answer.status != wanted:
                    wrong.append(f"{path}: {answer and answer.status}, not {wanted}")
                elif page.locator("h1").count() != 1:
                    wrong.append(f"{path} has {page.locator('h1').count()} headings of its own")
                elif page.locator(".plot__canvas:visible").count():
                    wrong.append(f"{path} shows an empty picture")
    assert wrong == []


@pytest.fixture
def page(chromium: Browser, served: Served) -> Iterator[Page]:
    with context(chromium, served, "dee") as window:
        yield window.new_page()


PROPOSAL = "/products/orchid-demo/proposals/"


def test_the_first_key_offers_to_skip_to_the_content(page: Page) -> None:
    page.goto(PROPOSAL)
    page.keyboard.press("Tab")
    link = page.locator(":focus")
    assert link.inner_text() == "Skip to the content"
    box = link.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


def test_what_has_the_focus_shows_it(page: Page) -> None:
    page.goto(PROPOSAL)
    for _ in range(12):
        page.keyboard.press("Tab")
        outline = page.evaluate(
            "(() => { const style = getComputedStyle(document.activeElement);"
            " return [style.outlineStyle, parseFloat(style.outlineWidth)]; })()"
        )
        assert outline[0] != "none", page.locator(":focus").inner_text()
        assert outline[1] >= 2


def test_on_a_phone_a_rollout_is_paused_without_scrolling_past_its_conditions(
    chromium: Browser, served: Served
) -> None:
    with context(chromium, served, "dee", size=PHONE) as window:
        page = window.new_page()
        page.goto("/products/orchid-demo/rollout/")
        page.get_by_role("link", name="Pause").click()
        box = page.get_by_role("button", name="Pause").bounding_box()
        assert box is not None
        assert 0 <= box["y"] < PHONE["height"]


def test_a_vote_can_be_cast_by_keyboard_alone(page: Page, served: Served) -> None:
    waiting = [path for _, path in served.pages if re.fullmatch(f"{PROPOSAL}\\d+/", path)][-1]
    page.goto(waiting)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "vote-reason":
            break
    page.keyboard.type("By keyboard")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Approve"


def test_a_planted_fault_is_found(page: Page) -> None:
    page.goto("/login")
    page.evaluate("document.querySelector('main').append(new Image(40, 40))")
    assert [fault.split(":")[0] for fault in faults(page)] == ["image-alt"]
