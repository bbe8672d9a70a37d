"""Chromium and a product that it opens: both once for a file of tests, and gone after it."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.db import connections
from playwright.sync_api import Browser, sync_playwright
from pytest_django import DjangoDbBlocker
from pytest_django.live_server_helper import LiveServer

from orchid.cli.demo.check.browser import ARGUMENTS, executable

PEOPLE = ("ana", "ben", "cho", "dee", "eve")


@dataclass
class Served:
    """A live server with every page of the product, and a session of each person."""

    url: str
    pages: list[tuple[str, str]]
    sessions: dict[str, str]


@pytest.fixture(scope="module")
def served(
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Served]:
    """Seeded once a file: these tests only read, and seeding takes longer than reading."""
    from django.core.management import call_command
    from django.test import Client, override_settings

    from accounts.models import User
    from tests.browser.seeded import seed
    from tests.browser.ways_in import PRESSED, PRESSED_BY_BEN
    from tests.unmanaged import empty_unmanaged

    # The signed head beside the keys is that of this database, and of none that a file before had.
    keys = override_settings(KEYS_DIR=tmp_path_factory.mktemp("keys"))
    with django_db_blocker.unblock(), keys:
        pages = seed(tmp_path_factory.mktemp("secrets"))
        sessions = {}
        for name in PEOPLE:
            client = Client()
            client.force_login(User.objects.get(username=name))
            if name == "ben":
                session = client.session
                session[PRESSED] = PRESSED_BY_BEN
                session.save()
            sessions[name] = client.cookies["sessionid"].value
        connections.close_all()
        server = LiveServer("127.0.0.1")
        yield Served(server.url, pages, sessions)
        server.stop()
        call_command("flush", verbosity=0, interactive=False)
        empty_unmanaged()
        connections.close_all()


@pytest.fixture(scope="module")
def chromium(served: Served) -> Iterator[Browser]:
    """After the seed: Playwright's event loop would keep the ORM from this thread."""
    path = executable()
    if path is None:
        pytest.skip("no Chromium: apt-get install chromium")
    with pytest.MonkeyPatch.context() as patched, sync_playwright() as playwright:
        # pytest-django opens a transaction around each test in this thread, on nothing's behalf.
        patched.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield browser
        browser.close()
        connections.close_all()  # those of this event loop, which nobody else can reach
