"""Somebody at a desk: the pages of a product and the same moves by the API."""

import json
import re
from typing import Any

from django.test import Client
from django.urls import reverse

from accounts.models import User
from tests.releases.releases_cast import SLUG

OF_PRODUCT = f"products/{SLUG}"


class Desk:
    """One person, signed in; every address is of the one product."""

    def __init__(self, name: str) -> None:
        self.client = Client()
        self.client.force_login(User.objects.get(username=name))

    def page(self, name: str, *args: Any) -> str:
        """What a page says, on one line."""
        answer = self.client.get(reverse(f"releases:{name}", args=[SLUG, *args]))
        assert answer.status_code == 200, answer.content.decode()
        return re.sub(r"\s+", " ", answer.content.decode())

    def sends(self, name: str, *args: Any, **form: Any) -> Any:
        """A form of a page."""
        return self.client.post(reverse(f"releases:{name}", args=[SLUG, *args]), form)

    def reads(self, path: str) -> Any:
        answer = self.client.get(f"/api/v1/{path}")
        assert answer.status_code == 200, answer.content.decode()
        return answer.json()

    def asks(self, path: str, key: str = "", **body: Any) -> tuple[int, Any]:
        """A move by the API; its status and its answer."""
        headers = {"Idempotency-Key": key} if key else {}
        answer = self.client.post(
            f"/api/v1/{path}", json.dumps(body), content_type="application/json", headers=headers
        )
        return answer.status_code, answer.json()


def proposed(given: dict[str, Any], title: str = "Cheaper") -> dict[str, Any]:
    """Drafted, proposed and submitted by ana."""
    ana = Desk("ana")
    status, made = ana.asks(f"{OF_PRODUCT}/generations", title=title, document=given)
    assert status == 201, made
    wanted = {"generation": made["generation"], "title": title, "rationale": "it pays"}
    status, row = ana.asks(f"{OF_PRODUCT}/proposals", **wanted)
    assert status == 201, row
    status, row = ana.asks(f"proposals/{row['id']}/submit", expected_version=row["version"])
    assert (status, row["state"]) == (200, "in_review"), row
    return dict(row)


def approved(given: dict[str, Any], *names: str) -> dict[str, Any]:
    row = proposed(given)
    for name in names or ("ben", "dee"):
        status, row = votes(name, row)
        assert status == 200, row
    assert row["state"] == "approved"
    return row


def votes(name: str, row: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """Approves what `row` shows."""
    body = {"decision": "approve", "reason": "measured", "bound_digest": row["bound_digest"]}
    return Desk(name).asks(f"proposals/{row['id']}/vote", **body)
