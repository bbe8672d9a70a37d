"""The people who decide, the product they decide on, and their way in: the API with a session."""

import json
import random
import secrets
import time
import uuid
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest

from accounts.guard import SYSTEM_ACTOR
from accounts.models import User
from accounts.roles import Role
from accounts.services import grant, issue_credential
from orchid.engine.document.parse import parse
from policies.models import Product, Revision
from policies.services import create_product
from releases.services.publish import bootstrap

SLUG = "orchid-demo"
DOCUMENTS = Path(__file__).parents[3] / "examples" / "orchid-demo"
ROLES = {"ana": Role.ENGINEER, "ben": Role.PRODUCT_OWNER, "dee": Role.SRE}
GIVE_UP_S = 120.0


@dataclass(frozen=True)
class Seeded:
    """One product whose first generation is live, its people's sessions and an edge's token."""

    sessions: dict[str, str]
    edge_token: str


def seed() -> Seeded:
    product = create_product(SYSTEM_ACTOR, SLUG, "Under fire", document=content(1, "2s"))
    first = Revision.objects.get(generation__product=product)
    bootstrap(SYSTEM_ACTOR, product, first, "the beginning")
    for name, role in ROLES.items():
        grant(SYSTEM_ACTOR, User.objects.create_user(name), role, SLUG)
    _credential, token = issue_credential(
        SYSTEM_ACTOR,
        kind="edge",
        name="edge-1",
        product_slug=SLUG,
        owner=User.objects.get(username="dee"),
    )
    return Seeded({name: _session(name) for name in ROLES}, token)


#: The stages of each rollout.
SHARES = (0.1, 0.5, 1.0)


def content(number: int, hold: str) -> dict[str, Any]:
    """A shipped document with three stages; another hold makes it another content.

    It asks for no evidence: what is killed here are decisions, and no suite was run.
    """
    document: dict[str, Any] = parse((DOCUMENTS / f"generation-{number}.yaml").read_bytes(), "yaml")
    stages = [{"canary": share, "hold": hold} for share in SHARES]
    document["rollout"] |= {"stages": stages}
    document["approvals"] |= {"evidence_required": []}
    return document


def product() -> Product:
    return Product.objects.get(slug=SLUG)


def _session(name: str) -> str:
    """A signed-in session as the sign-in page makes it."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore()
    login(
        request,
        User.objects.get(username=name),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    request.session.save()
    return str(request.session.session_key)


@dataclass(frozen=True)
class Answered:
    """The last answer to an act, and how often it had to be asked."""

    status: int
    body: dict[str, Any]
    tries: int

    @property
    def done(self) -> bool:
        return self.status < 300


class People:
    """Everybody's client. An act is asked again under one key until it has an answer of ours."""

    def __init__(self, url: str, seeded: Seeded, dice: random.Random) -> None:
        self._dice = dice
        self._clients = {name: _client(url, key) for name, key in seeded.sessions.items()}

    def act(self, name: str, path: str, **body: Any) -> Answered:
        """A post whose answer may be lost on its way; only an answer below 500 ends it."""
        key = uuid.UUID(int=self._dice.getrandbits(128)).hex
        deadline, tries = time.monotonic() + GIVE_UP_S, 0
        while time.monotonic() < deadline:
            tries += 1
            answer = self._ask(name, "POST", path, key, body)
            if answer is not None and answer.status_code < 500:
                return Answered(answer.status_code, _object(answer), tries)
            if answer is not None and answer.status_code != 503:
                return Answered(answer.status_code, {"detail": answer.text[:500]}, tries)
            time.sleep(0.1)
        return Answered(0, {"detail": "no answer"}, tries)

    def look(self, name: str, path: str) -> dict[str, Any]:
        deadline = time.monotonic() + GIVE_UP_S
        while time.monotonic() < deadline:
            answer = self._ask(name, "GET", path, "", None)
            if answer is not None and answer.status_code == 200:
                return _object(answer)
            time.sleep(0.1)
        raise TimeoutError(f"{path} was not answered in {GIVE_UP_S} s")

    def _ask(
        self, name: str, method: str, path: str, key: str, body: dict[str, Any] | None
    ) -> httpx.Response | None:
        headers = {"Idempotency-Key": key} if key else {}
        try:
            return self._clients[name].request(
                method, f"/api/v1/{path}", json=body, headers=headers
            )
        except httpx.HTTPError:
            return None


def _client(url: str, session: str) -> httpx.Client:
    token = secrets.token_hex(16)
    cookies = {settings.SESSION_COOKIE_NAME: session, settings.CSRF_COOKIE_NAME: token}
    return httpx.Client(base_url=url, cookies=cookies, headers={"X-CSRFToken": token}, timeout=20)


def _object(answer: httpx.Response) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer.content)
    return found


__all__ = ["SLUG", "Answered", "People", "Seeded", "content", "product", "seed"]
