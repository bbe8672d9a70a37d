"""Chromium, as a person has it: one window a person, screenshots by size and theme."""

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from orchid.cli.demo.check.site import Site

NAMES = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
SIZES = {1440: 900, 390: 844}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PATIENCE_MS = 15_000
REDRAW_MS = 250  # what a picture takes to follow a new size or theme


class Window:
    """One person's browser window, signed in through the form."""

    def __init__(self, context: BrowserContext, site: Site, name: str, shots: Path) -> None:
        self.page: Page = context.new_page()
        self.page.set_default_timeout(PATIENCE_MS)
        self.shots = shots
        self.page.goto("/login")
        self.page.get_by_label("Username").fill(name)
        self.page.get_by_label("Password").fill(site.password(name))
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_role("button", name="Sign out").wait_for()

    def visit(self, path: str) -> Page:
        self.page.goto(path)
        return self.page

    def shoot(self, path: str, name: str) -> None:
        """The whole page at each size and in each theme, with its pictures drawn."""
        self.visit(path)
        self._draw()
        for theme in THEMES:
            self.page.emulate_media(color_scheme=theme)
            for width, height in SIZES.items():
                self.page.set_viewport_size({"width": width, "height": height})
                self.page.wait_for_timeout(REDRAW_MS)
                file = self.shots / f"{name}-{width}-{theme}.png"
                self.page.screenshot(path=file, full_page=True)
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": 1440, "height": SIZES[1440]})

    def _draw(self) -> None:
        """Pictures are drawn when they come into view."""
        for plot in self.page.locator(".plot").all():
            plot.scroll_into_view_if_needed()
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('.plot')].every(plot => plot.dataset.drawn)"
        )
        self.page.evaluate("() => window.scrollTo(0, 0)")


class Windows:
    """Everybody's windows in one Chromium."""

    def __init__(self, browser: Browser, site: Site, shots: Path) -> None:
        self.browser, self.site, self.shots = browser, site, shots
        self._open: dict[str, Window] = {}

    def of(self, name: str) -> Window:
        if name not in self._open:
            context = self.browser.new_context(base_url=self.site.url, reduced_motion="reduce")
            self._open[name] = Window(context, self.site, name, self.shots)
        return self._open[name]


def executable() -> str | None:
    """Where a Chromium is on this machine."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


@contextlib.contextmanager
def opened(site: Site, chromium: str, shots: Path) -> Iterator[Windows]:
    shutil.rmtree(shots, ignore_errors=True)
    shots.mkdir(parents=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield Windows(browser, site, shots)
        browser.close()
