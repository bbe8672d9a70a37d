"""The demo's beginning: whole, private, and the same when it is loaded twice."""

import json
import stat
from pathlib import Path

import pytest
from django.conf import settings

from accounts.authentication import credential_for
from accounts.models import AuditEvent, Credential, User
from releases import demo
from releases.models import Publication

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "secrets"


def test_it_loads_both_products_people_tokens_and_first_publications(folder: Path) -> None:
    demo.load(settings.BASE_DIR / "examples", folder)
    slugs = Publication.objects.values_list("product__slug", "number", "kind")
    assert sorted(slugs) == [("orchid-demo", 1, "publish"), ("orchid-serve", 1, "publish")]
    passwords = json.loads((folder / "demo-passwords.json").read_text())
    assert sorted(passwords) == ["ana", "ben", "cho", "dee", "eve"]
    assert User.objects.get(username="dee").check_password(passwords["dee"])
    for kind, owner in (("ci", "ana"), ("edge", "dee"), ("otel", "dee")):
        path = folder / f"{kind}-token"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        credential = credential_for(path.read_text())
        assert credential is not None
        assert credential.owner.username == owner


def test_loading_again_changes_nothing(folder: Path) -> None:
    demo.load(settings.BASE_DIR / "examples", folder)
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    acts = AuditEvent.objects.count()
    assert demo.load(settings.BASE_DIR / "examples", folder) == []
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == kept
    assert AuditEvent.objects.count() == acts


def test_a_lost_token_is_replaced_and_the_old_one_ends(folder: Path) -> None:
    demo.load(settings.BASE_DIR / "examples", folder)
    old = (folder / "edge-token").read_text()
    (folder / "edge-token").unlink()
    demo.load(settings.BASE_DIR / "examples", folder)
    assert credential_for(old) is None
    assert credential_for((folder / "edge-token").read_text()) is not None
    assert Credential.objects.filter(kind="edge", revoked_at=None).count() == 1
