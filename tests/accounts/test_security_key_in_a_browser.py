"""A security key in Chromium: added, asked for at sign-in, and enough to confirm who one is.

And what only a browser enforces: the way to a provider under our own content policy.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import Browser, Page, sync_playwright
from pytest_django import Settings

from controlplane.sign_on import Provider
from orchid.cli.demo.check.browser import ARGUMENTS, executable
from tests.accounts import openid_server
from tests.accounts.test_single_sign_on import offer
from tests.people import PASSWORD, Cast

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(executable() is None, reason="no Chromium: apt-get install chromium"),
]
#: A key that answers whenever it is asked, as a person who touches it would.
KEY = {
    "protocol": "ctap2",
    "transport": "usb",
    "hasResidentKey": False,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with pytest.MonkeyPatch.context() as patched, sync_playwright() as playwright:
        patched.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=executable(), args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser, live_server: Any, cast: Cast) -> Iterator[Page]:
    """A browser with a key plugged in; by name, for no key speaks to a bare address."""
    url = live_server.url.replace("127.0.0.1", "localhost")
    context = chromium.new_context(base_url=url)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda line: faults.append(line.text) if line.type == "error" else None)
    devtools = context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": KEY})
    yield page
    context.close()
    assert faults == []


def give_password(page: Page, name: str) -> None:
    page.goto("/login?next=/account/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def test_a_key_is_added_then_asked_for_and_confirms(page: Page, settings: Settings) -> None:
    give_password(page, "ben")
    page.get_by_role("link", name="Add a security key").click()
    page.get_by_label("Name of the key").fill("The blue one")
    page.get_by_role("button", name="Add the key").click()
    page.get_by_role("region", name="Recovery codes").wait_for()
    assert Authenticator.objects.filter(type="webauthn", user__username="ben").count() == 1
    page.get_by_role("button", name="Sign out").click()
    give_password(page, "ben")
    assert page.url.endswith("/login/code")
    page.get_by_role("button", name="Use a security key").click()
    page.get_by_text("The blue one", exact=True).wait_for()
    settings.CONFIRMED_FOR_S = 0
    page.goto("/account/keys/add")
    assert "/confirm/key?next=" in page.url
    settings.CONFIRMED_FOR_S = 60
    page.get_by_role("button", name="Use a security key").click()
    page.get_by_label("Name of the key").wait_for()


def test_the_way_to_a_provider_is_not_cut_by_our_own_policy(page: Page, settings: Settings) -> None:
    with openid_server.running() as server:
        client, secret = openid_server.CLIENT, openid_server.SECRET
        corp = Provider("corp", "Corp", server.issuer, client, secret, ("*",), (), True, False)
        offer(settings, corp)
        page.goto("/login")
        page.get_by_role("button", name="Sign in with Corp").click()
        page.wait_for_url(lambda url: url.startswith(f"{server.issuer}/authorize?"))
        page.goto("about:blank")  # nothing more is asked of a server that is about to end
