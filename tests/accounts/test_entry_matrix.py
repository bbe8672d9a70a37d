"""The entries beside Django: every address of theirs by everybody who could come.

They are no part of Django's table of addresses, so the matrix of that sees none of them.
"""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import cast

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.core.asgi import get_asgi_application
from django.db import connections
from django.utils import timezone
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from accounts.guard import SYSTEM_ACTOR
from accounts.models import Credential, User
from accounts.roles import EVERY_PRODUCT, MACHINES, PERMISSIONS, Permission
from accounts.services import issue_credential, revoke_credential
from controlplane.asgi import application
from ingest import tasks
from ingest.edge_asgi import TelemetryEntry
from ingest.models import Batch
from policies.services import create_product
from releases.edge_asgi import create_app
from releases.edge_store import conninfo
from releases.models import Activation, Edge
from tests.releases.releases_cast import SLUG, live_product
from tests.releases.releases_cast import cast as people
from tests.small_policy import small_document

pytestmark = pytest.mark.django_db(transaction=True)
OTHER = "orchid-small"
REPORT = {"edge": "edge-1", "publication": 1, "state": "active", "open_sequences": {}}
#: Every address of the entries with the methods that it takes, written by hand.
TABLE = {
    "/edge/v1/stream": ("GET",),
    "/edge/v1/products/{product}/bundle": ("GET",),
    "/edge/v1/products/{product}/keys": ("GET",),
    "/edge/v1/products/{product}/activations": ("POST",),
    "/edge/v1/products/{product}/drills/{drill}": ("GET", "POST"),
    "/api/v1/ingest/requests": ("POST",),
    "/api/v1/ingest/rollups": ("POST",),
    "/api/v1/ingest/shadow": ("POST",),
}
#: What is fetched for as long as somebody listens is let in by its first byte.
HELD = "/edge/v1/stream"
#: It names no product: another's edge hears of its own there, for as long as it listens.
OWN_STREAM = ("of-another", HELD)


def leaves(routes: list[BaseRoute], before: str = "") -> Iterator[tuple[str, tuple[str, ...]]]:
    for route in routes:
        if isinstance(route, Route):
            yield before + route.path, tuple(sorted((route.methods or set()) - {"HEAD"}))
        elif isinstance(route, Mount) and route.path:
            yield from leaves(list(route.routes), before + route.path)


def test_the_table_names_every_address_of_the_entries_and_no_other() -> None:
    assert dict(leaves(application.routes)) == TABLE


@dataclass(frozen=True)
class Asker:
    """How somebody shows who they are, and whether that is this product's own edge."""

    name: str
    headers: dict[str, str]


def bearer(name: str, kind: str, slug: str = SLUG) -> tuple[Asker, Credential]:
    owner = User.objects.get(username="ana")
    made, token = issue_credential(
        SYSTEM_ACTOR, kind=kind, name=name, product_slug=slug, owner=owner
    )
    return Asker(name, {"Authorization": f"Bearer {token}"}), made


def session(user: User) -> Asker:
    kept = SessionStore()
    kept[SESSION_KEY] = str(user.pk)
    kept[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    kept[HASH_SESSION_KEY] = user.get_session_auth_hash()
    kept.save()
    return Asker("a person", {"Cookie": f"{settings.SESSION_COOKIE_NAME}={kept.session_key}"})


def askers() -> list[Asker]:
    """Everybody who isn't a live edge of this product."""
    strangers = [
        Asker("nobody", {}),
        Asker("a guess", {"Authorization": "Bearer orc_edge_guess"}),
        Asker("a scheme", {"Authorization": "Basic b3JjOng="}),
        session(User.objects.get(username="ben")),
        bearer("of-another", "edge", OTHER)[0],
    ]
    strangers += [bearer(f"a-{kind}", kind)[0] for kind in MACHINES if kind != "edge"]
    strangers += [bearer(f"all-{kind}", kind, EVERY_PRODUCT)[0] for kind in ("ci", "audit")]
    revoked, credential = bearer("revoked", "edge")
    revoke_credential(SYSTEM_ACTOR, credential.pk, "stolen", SLUG)
    expired, credential = bearer("expired", "edge")
    Credential.objects.filter(pk=credential.pk).update(expires_at=timezone.now() - timedelta(1))
    left = User.objects.create_user("left", is_active=False)
    ownerless, credential = bearer("ownerless", "edge")
    Credential.objects.filter(pk=credential.pk).update(owner=left)
    return [*strangers, revoked, expired, ownerless]


def prepared() -> tuple[Asker, list[Asker]]:
    people()
    live_product()
    create_product(SYSTEM_ACTOR, OTHER, "Other", document=small_document())
    return bearer("edge-1", "edge")[0], askers()


@pytest.fixture
async def client(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx.AsyncClient]:
    """The entries as the server mounts them, Django behind them."""
    monkeypatch.setattr(tasks.drain, "apply_async", lambda **_: None)
    django = cast("ASGIApp", get_asgi_application())
    edges, telemetry = create_app(), TelemetryEntry(django, conninfo())
    app = Starlette(routes=[Mount("/edge", app=edges), *telemetry.routes(), Mount("/", app=django)])
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        yield client
    await telemetry.close()
    await edges.state.hub.close()
    await sync_to_async(connections.close_all)()


async def status(client: httpx.AsyncClient, asker: Asker, method: str, path: str) -> int:
    at = path.replace("{product}", SLUG).replace("{drill}", "1")
    asked = REPORT if "edge" in path else {}
    body = {"json": asked} if method == "POST" else {}
    answer = await client.request(
        method,
        at,
        params={"product": SLUG},
        headers={
            **asker.headers,
            "Batch-Id": path.rpartition("/")[2].strip("{}"),
            "Sec-Fetch-Site": "same-origin",
        },
        **body,  # type: ignore[arg-type]
    )
    return answer.status_code


def happened() -> tuple[int, int, int]:
    return Edge.objects.count(), Activation.objects.count(), Batch.objects.count()


async def test_who_is_no_live_edge_of_the_product_gets_nothing_from_any_of_them(
    client: httpx.AsyncClient,
) -> None:
    _, strangers = await sync_to_async(prepared)()
    assert len(strangers) >= 13
    before = await sync_to_async(happened)()
    let_in = [
        f"{asker.name}: {method} {path} -> {found}"
        for asker in strangers
        for path, methods in TABLE.items()
        for method in methods
        if (asker.name, path) != OWN_STREAM
        and (found := await status(client, asker, method, path)) not in (401, 403, 404)
    ]
    assert let_in == []
    assert await sync_to_async(happened)() == before


async def test_a_live_edge_of_the_product_is_let_in_everywhere(client: httpx.AsyncClient) -> None:
    own, _ = await sync_to_async(prepared)()
    shut_out = [
        f"{method} {path} -> {found}"
        for path, methods in TABLE.items()
        for method in methods
        if path != HELD
        and (found := await status(client, own, method, path)) in (401, 403, 405, 500)
    ]
    assert shut_out == []
    assert await sync_to_async(happened)() == (1, 1, 3)


def test_only_edges_may_what_the_entries_are_for() -> None:
    """What the table of roles says, of which these entries are the other half."""
    assert [kind for kind in MACHINES if Permission.EDGE in PERMISSIONS[kind]] == ["edge"]
