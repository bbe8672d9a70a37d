"""Somebody at a desk: the pages of a product and the same moves by the API."""

import json
import re
from typing import Any

from django.test import Client
from django.urls import reverse

from accounts.models import User
from tests.releases.releases_cast import SLUG


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
