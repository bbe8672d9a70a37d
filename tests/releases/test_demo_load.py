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


def test_it_loads_both_products_people_tokens_and_first_publications(tmp_path: Path) -> None:
    demo.load(settings.BASE_DIR / "examples", tmp_path)
    slugs = Publication.objects.values_list("product__slug", "number", "kind")
    assert sorted(slugs) == [("orchid-demo", 1, "publish"), ("orchid-serve", 1, "publish")]
    passwords = json.loads((tmp_path / "demo-passwords.json").read_text())
    assert sorted(passwords) == ["ana", "ben", "cho", "dee", "eve"]
    assert User.objects.get(username="dee").check_password(passwords["dee"])
    for kind, owner in (("ci", "ana"), ("edge", "dee"), ("otel", "dee")):
        path = tmp_path / f"{kind}-token"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        credential = credential_for(path.read_text())
        assert credential is not None
        assert credential.owner.username == owner


def test_loading_again_changes_nothing(tmp_path: Path) -> None:
    demo.load(settings.BASE_DIR / "examples", tmp_path)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    acts = AuditEvent.objects.count()
    assert demo.load(settings.BASE_DIR / "examples", tmp_path) == []
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept
    assert AuditEvent.objects.count() == acts


def test_a_lost_token_is_replaced_and_the_old_one_ends(tmp_path: Path) -> None:
    demo.load(settings.BASE_DIR / "examples", tmp_path)
    old = (tmp_path / "edge-token").read_text()
    (tmp_path / "edge-token").unlink()
    demo.load(settings.BASE_DIR / "examples", tmp_path)
    assert credential_for(old) is None
    assert credential_for((tmp_path / "edge-token").read_text()) is not None
    assert Credential.objects.filter(kind="edge", revoked_at=None).count() == 1
