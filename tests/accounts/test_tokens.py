"""A token may be cut down, ends by itself, and is replaced without a gap."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import AuditEvent, Credential
from tests.people import Cast

SLUG = "orchid-demo"
ACCESS = f"/products/{SLUG}/access/"


def asked(cast: Cast, path: str, **typed: Any) -> str:
    """The token that a page shows once."""
    page = cast.browser("ben").post(f"{ACCESS}{path}", typed).content.decode()
    found = re.search(r"orc_\w+_[\w-]{43}", page)
    return found[0] if found else ""


def status(token: str, method: str = "get", path: str = "products") -> int:
    client = Client(headers={"Authorization": f"Bearer {token}"})
    answer = getattr(client, method)(f"/api/v1/{path}")
    return int(answer.status_code)


def test_a_token_that_may_view_pushes_nothing(cast: Cast) -> None:
    page = {"kind": "ci", "name": "reader", "lifetime": "30", "scopes": ["view"]}
    reader = asked(cast, "credentials", **page)
    whole = asked(cast, "credentials", kind="ci", name="whole", lifetime="30")
    path = f"products/{SLUG}/evidence"
    assert status(reader) == 200
    assert status(reader, "post", path) == 403
    assert status(whole, "post", path) != 403


def test_a_scope_reaches_no_further_than_the_kind(cast: Cast) -> None:
    assert not asked(cast, "credentials", kind="ci", name="x", scopes=["approve"])
    assert not asked(cast, "credentials", kind="edge", name="x", scopes=["view"])
    assert not Credential.objects.exists()


@pytest.mark.parametrize(("lifetime", "days"), [("30", 30), ("", None)])
def test_a_token_ends_when_the_page_says(cast: Cast, lifetime: str, days: int | None) -> None:
    token = asked(cast, "credentials", kind="ci", name="build", lifetime=lifetime)
    row = Credential.objects.get()
    left = (row.expires_at - timezone.now()).days + 1 if row.expires_at else None
    assert (left, status(token)) == (days, 200)


def test_both_tokens_count_while_one_is_replaced_and_then_the_new_one_alone(cast: Cast) -> None:
    page = {"kind": "ci", "name": "build", "lifetime": "90", "scopes": ["view"]}
    old = asked(cast, "credentials", **page)
    first = Credential.objects.get()
    again = {"credential": first.pk, "reason": "yearly", "overlap": "24"}
    new = asked(cast, "rotate", **again)
    assert (status(old), status(new)) == (200, 200)
    second = Credential.objects.exclude(pk=first.pk).get()
    assert (second.scopes, second.owner) == (["view"], first.owner)
    Credential.objects.filter(pk=first.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert (status(old), status(new)) == (401, 200)
    assert AuditEvent.objects.get(action="credential.rotated").reason == "yearly"


def test_a_leaked_token_is_replaced_with_no_overlap(cast: Cast) -> None:
    old = asked(cast, "credentials", kind="ci", name="build", lifetime="90")
    again = {"credential": Credential.objects.get().pk, "reason": "leaked", "overlap": "0"}
    new = asked(cast, "rotate", **again)
    assert (status(old), status(new)) == (401, 200)


def test_a_replacement_without_a_reason_changes_nothing(cast: Cast) -> None:
    old = asked(cast, "credentials", kind="ci", name="build", lifetime="90")
    again = {"credential": Credential.objects.get().pk, "reason": "", "overlap": "0"}
    assert not asked(cast, "rotate", **again)
    assert status(old) == 200
