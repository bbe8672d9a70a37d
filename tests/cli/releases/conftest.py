"""The real commands against a live server, typed by the cast."""

import io
import shlex
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from accounts.guard import SYSTEM_ACTOR
from accounts.models import Credential, User
from accounts.services import issue_credential
from orchid.cli import main as command_line
from policies.models import Product
from tests.cli.releases.terminal import Orchid
from tests.people import PASSWORD
from tests.releases import releases_cast as cast


@pytest.fixture
def product(transactional_db: None, settings: Settings, tmp_path: Path) -> Product:
    settings.KEYS_DIR = tmp_path / "keys"
    for person in cast.cast().values():
        person.set_password(PASSWORD)
        person.save()
    return cast.live_product()


@pytest.fixture
def orchid(
    live_server: LiveServer,
    product: Product,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> Orchid:
    """Run a line as somebody: each person signs in once, `ops` and `ci` show a token."""
    monkeypatch.setenv("ORCHID_URL", live_server.url)
    monkeypatch.setenv("ORCHID_PRODUCT", cast.SLUG)
    opened: list[httpx.Client] = []
    real = httpx.Client.__init__

    def known(client: httpx.Client, **options: Any) -> None:
        real(client, **options)
        opened.append(client)

    monkeypatch.setattr(httpx.Client, "__init__", known)

    def run(line: str, who: str) -> tuple[int, str, str]:
        monkeypatch.setenv("ORCHID_SESSIONS", str(tmp_path / f"{who}.json"))
        monkeypatch.setenv("ORCHID_TOKEN", token(who) if who in ("ops", "ci") else "")
        monkeypatch.setattr(sys, "argv", ["orchid", *shlex.split(line)])
        with pytest.raises(SystemExit) as ended:
            command_line.main()
        while opened:  # a process ends with its command, this one doesn't
            opened.pop().close()
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        assert isinstance(ended.value.code, int)
        return ended.value.code, printed.out, printed.err

    def orchid(line: str, who: str = "dee") -> tuple[int, str, str]:
        if who not in ("ops", "ci", "") and not (tmp_path / f"{who}.json").exists():
            with monkeypatch.context() as typed:
                typed.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n"))
                assert run(f"sign-in {who}", who)[0] == 0
        return run(line, who)

    return orchid


def token(kind: str) -> str:
    owner = User.objects.get(username="ana" if kind == "ci" else "dee")
    name = f"{kind}-{Credential.objects.count()}"
    made = issue_credential(SYSTEM_ACTOR, kind=kind, name=name, product_slug=cast.SLUG, owner=owner)
    return made[1]
