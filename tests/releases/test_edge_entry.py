"""The slim entry as an edge uses it: keys, bundle, long poll, what it answers."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import User
from accounts.services import issue_credential, revoke_credential
from orchid.engine.wire.bundle import verify
from policies.models import Product
from releases.edge_asgi import create_app
from releases.models import Activation, Edge, EdgeSeen, Publication
from releases.services.rollback import roll_back
from tests.releases.releases_cast import SLUG, actor, cast, edge_token, live_product, published

pytestmark = pytest.mark.django_db(transaction=True)
BASE = f"/v1/products/{SLUG}"


@dataclass
class Entry:
    """A running entry and an edge's client of it."""

    client: httpx.AsyncClient
    app: Any
    product: Product
    credential_id: int

    async def bundle(self, tag: str = "", wait: int = 0) -> httpx.Response:
        headers = {"Prefer": f"wait={wait}"} if wait else {}
        headers |= {"If-None-Match": tag} if tag else {}
        return await self.client.get(f"{BASE}/bundle", headers=headers)

    async def says(self, publication: int, state: str = "active", **more: Any) -> httpx.Response:
        body = {
            "edge": "edge-1",
            "publication": publication,
            "state": state,
            "open_sequences": {},
            "sent_at": datetime.now(UTC).isoformat(),
            "boot_id": "b1",
            **more,
        }
        return await self.client.post(f"{BASE}/activations", json=body)


@pytest.fixture
def shared() -> tuple[Product, int, str]:
    cast()
    product = live_product()
    credential, token = edge_token("edge-1")
    return product, credential.pk, token


@pytest.fixture
async def entry(shared: tuple[Product, int, str]) -> AsyncIterator[Entry]:
    product, credential_id, token = shared
    app = create_app()
    headers = {"Authorization": f"Bearer {token}", "Orchid-Edge": "edge-1"}
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://edge", headers=headers
    ) as client:
        yield Entry(client, app, product, credential_id)
    await app.state.hub.close()
    await sync_to_async(connections.close_all)()  # of the thread that ran the ORM for us


async def test_an_edge_registers_with_its_credential_and_pins_the_keys(entry: Entry) -> None:
    keys = (await entry.client.get(f"{BASE}/keys")).json()
    assert keys["edge"] == "edge-1"
    answer = await entry.bundle()
    bundle = verify(
        answer.text, keys["keys"], product=SLUG, floor_publication=0, now=timezone.now()
    )
    assert bundle.publication == 1
    stored = await Edge.objects.aget()
    assert set(stored.pinned_kids) == set(keys["keys"])
    again = await entry.client.get(f"{BASE}/keys", headers={"Orchid-Edge": "another"})
    assert (again.status_code, again.json()["code"]) == (409, "edge_name_taken")


async def test_the_active_tag_gets_304_and_any_other_gets_the_body(entry: Entry) -> None:
    first = await entry.bundle()
    assert (await entry.bundle(first.headers["ETag"])).status_code == 304
    offered = await entry.bundle('"what I run"')
    assert (offered.status_code, offered.text) == (200, first.text)


async def test_a_long_poll_ends_with_the_next_publication(entry: Entry) -> None:
    first = await entry.bundle()
    waiting = asyncio.create_task(entry.bundle(first.headers["ETag"], wait=20))
    await asyncio.wait_for(entry.app.state.hub.listening.wait(), 30)
    await sync_to_async(published)(entry.product)
    began = asyncio.get_running_loop().time()
    answer = await asyncio.wait_for(waiting, 30)
    took = asyncio.get_running_loop().time() - began
    assert answer.status_code == 200
    assert answer.headers["ETag"] != first.headers["ETag"]
    assert took < 1.5  # woken by the hint; without one it would be found after two seconds


async def test_a_long_poll_without_news_is_304_after_the_wait(entry: Entry) -> None:
    first = await entry.bundle()
    began = asyncio.get_running_loop().time()
    answer = await entry.bundle(first.headers["ETag"], wait=1)
    assert answer.status_code == 304
    assert asyncio.get_running_loop().time() - began >= 0.9


# Case 10
async def test_an_edge_that_refused_is_offered_the_body_again(entry: Entry) -> None:
    first = await entry.bundle()
    await entry.says(1)
    await sync_to_async(published)(entry.product)
    refused = await entry.says(2, "refused", reason="schema error at /fallback/3")
    assert refused.status_code == 200
    seen = await EdgeSeen.objects.aget()
    assert seen.active_publication == 1
    offered = await entry.bundle(first.headers["ETag"], wait=20)
    assert offered.status_code == 200
    kept = await Activation.objects.aget(state="refused")
    assert kept.reason == "schema error at /fallback/3"


async def test_repeated_reports_keep_the_first_moment_and_the_last_sequences(
    entry: Entry,
) -> None:
    await entry.says(1, open_sequences={"sha256:a": 4})
    first = await Activation.objects.aget()
    await entry.says(1, open_sequences={"sha256:a": 1})
    again = await Activation.objects.aget()
    assert again.at == first.at
    assert again.reported_at > first.reported_at
    assert again.open_sequences == {"sha256:a": 1}
    assert (await EdgeSeen.objects.aget()).reported_at == again.reported_at
    assert again.clock_skew_ms is not None
    assert abs(again.clock_skew_ms) < 5000


async def test_to_be_heard_is_not_to_tell(entry: Entry) -> None:
    """Polls go on while reports fail: when it last told its sequences stays as it was."""
    await entry.says(1, open_sequences={"sha256:a": 4})
    told = (await EdgeSeen.objects.aget()).reported_at
    await EdgeSeen.objects.aupdate(at=timezone.now() - timedelta(minutes=5))
    await entry.bundle()
    assert (await entry.says(99)).status_code == 404
    await entry.app.state.hub.writes.close()
    seen = await EdgeSeen.objects.aget()
    assert seen.reported_at == told
    assert timezone.now() - seen.at < timedelta(minutes=1)


async def test_the_more_edges_there_are_the_longer_they_spread_their_news(
    entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry.app.state.hub.ensure_listening()
    await asyncio.wait_for(
        entry.app.state.hub.listening.wait(), 30
    )  # until then no edge is known, and all are none
    asked = (await entry.says(1)).json()["news_within_s"]
    monkeypatch.setattr("releases.edge_asgi.NEWS_PER_S", 2)
    assert asked < (await entry.says(1)).json()["news_within_s"] == 0.5


async def test_a_rollback_is_served_as_a_new_number(entry: Entry) -> None:
    await sync_to_async(published)(entry.product)
    await entry.bundle()
    await sync_to_async(lambda: roll_back(actor("dee"), entry.product, "users complain"))()
    newest = await Publication.objects.alatest("number")
    answer = await entry.bundle('"2"', wait=5)
    while answer.headers["ETag"] != newest.etag:  # a hint may be on its way still
        answer = await entry.bundle(answer.headers["ETag"], wait=5)
    assert newest.number == 3


async def test_an_unknown_token_and_a_revoked_one_are_strangers(entry: Entry) -> None:
    stranger = await entry.client.get(
        f"{BASE}/bundle", headers={"Authorization": "Bearer orc_edge_no"}
    )
    assert (stranger.status_code, stranger.json()["code"]) == (401, "unauthenticated")
    other = await entry.client.get("/v1/products/orchid-serve/bundle")
    assert other.status_code == 401
    tag = (await entry.bundle()).headers["ETag"]
    await asyncio.wait_for(entry.app.state.hub.listening.wait(), 30)
    held = asyncio.create_task(entry.bundle(tag, wait=20))
    await sync_to_async(revoke_credential)(SYSTEM_ACTOR, entry.credential_id, "lost", SLUG)
    await asyncio.wait_for(held, 30)  # it ends when the entry has heard of the revocation
    assert (await entry.bundle()).status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"edge": "edge-1", "publication": 1, "state": "happy"}',
        b'{"edge": "no spaces please", "publication": 1, "state": "active"}',
        b'{"edge": "edge-1", "publication": 1, "state": "active", "sent_at": "2026-01-01T00:00"}',
    ],
)
async def test_an_unreadable_report_is_refused_and_stores_nothing(
    entry: Entry, body: bytes
) -> None:
    answer = await entry.client.post(f"{BASE}/activations", content=body)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_report")
    assert not await Activation.objects.aexists()


async def test_a_report_larger_than_any_report_is_refused(entry: Entry) -> None:
    answer = await entry.client.post(f"{BASE}/activations", content=b" " * 70_000)
    assert answer.status_code == 413


async def test_a_report_on_a_publication_that_never_was_is_refused(entry: Entry) -> None:
    answer = await entry.says(99)
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_publication")


async def test_no_report_and_no_address_breaks_the_entry(entry: Entry) -> None:
    deep = b'{"new": ' + b"[" * 30_000 + b"]" * 30_000 + b"}"
    said = b'{"edge": "edge-1", "publication": 1, "state": "active", %s}'
    reports = [
        deep,
        b'{"edge": "\xff"}',
        said % b'"reason": "a\\u0000b"',
        said % b'"open_sequences": {"\\u0000": 1}',
        said % b'"open_sequences": {"a": 99999999999999999999}',
        said.replace(b"1,", b"99999999999,") % b'"boot_id": ""',
        said % b'"sent_at": "0001-01-01T00:00:00"',
    ]
    for body in reports:
        answer = await entry.client.post(f"{BASE}/activations", content=body)
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_report"), body[:80]
    assert (await entry.client.get("/v1/products/a%00b/bundle")).status_code == 401
    for drill in ("9" * 18, "9" * 5000, "-1", "1e3", "٣"):
        answer = await entry.client.get(f"{BASE}/drills/{drill}")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_drill"), drill[:20]


async def test_a_credential_for_every_product_is_no_edge(entry: Entry) -> None:
    owner = await User.objects.aget(username="dee")
    _, token = await sync_to_async(issue_credential)(
        SYSTEM_ACTOR, kind="edge", name="any", product_slug="*", owner=owner
    )
    answer = await entry.client.get(
        f"{BASE}/keys", headers={"Authorization": f"Bearer {token}", "Orchid-Edge": "any"}
    )
    assert answer.status_code == 401
