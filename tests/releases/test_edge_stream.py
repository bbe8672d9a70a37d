"""The stream as edges use it, from a server of its own: hints, revocation, bounds, bad clients."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.db import connection
from django.test import Client
from django.test.client import MULTIPART_CONTENT
from pytest_django import Settings

from accounts.guard import SYSTEM_ACTOR
from accounts.models import User
from accounts.services import revoke_credential
from controlplane.env import Edges
from orchid.edge.stream import Event
from orchid.engine.wire.bundle import claimed_publication
from policies.models import Product
from releases import edge_stream
from releases.models import Edge, EdgeSeen
from releases.services.channel import CHANNEL
from releases.services.edges import register_edge, revoke_edge
from tests.releases.edge_server import (
    BUNDLE,
    STREAM,
    Served,
    end_listeners,
    registered,
    serving,
    streaming,
)
from tests.releases.releases_cast import SLUG, actor, edge_token, published

pytestmark = pytest.mark.django_db(transaction=True)
MOST = 3


@pytest.fixture
def shared() -> tuple[Product, int, str]:
    return registered()


@pytest.fixture
async def served(shared: tuple[Product, int, str]) -> AsyncIterator[Served]:
    async with serving(shared, MOST) as one:
        yield one


async def test_a_hint_carries_the_very_bytes_that_the_pull_gives(served: Served) -> None:
    async with served.client() as client, streaming(client) as reader:
        first = await reader.next()
        pulled = await client.get(BUNDLE)
        assert (first.name, first.data) == ("bundle", pulled.text)
        await sync_to_async(published)(served.product)
        second = await reader.next()
        assert claimed_publication(second.data) == 2
        assert second.data == (await client.get(BUNDLE)).text


async def test_an_edge_that_names_what_it_runs_is_told_of_the_next_only(served: Served) -> None:
    async with served.client() as client:
        tag = (await client.get(BUNDLE)).headers["ETag"]
        async with streaming(client, tag) as reader:
            await served.until_held(1)
            await sync_to_async(published)(served.product)
            assert claimed_publication((await reader.next()).data) == 2


async def test_a_revoked_credential_ends_its_stream_and_its_poll_at_once(served: Served) -> None:
    async with served.client() as client:
        tag = (await client.get(BUNDLE)).headers["ETag"]
        poll = asyncio.create_task(
            client.get(BUNDLE, headers={"If-None-Match": tag, "Prefer": "wait=20"})
        )
        async with streaming(client, tag) as reader:
            await served.until_held(2)
            await sync_to_async(revoke_credential)(SYSTEM_ACTOR, served.credential_id, "lost", SLUG)
            assert await reader.ended()
        assert (await asyncio.wait_for(poll, 30)).status_code == 401
        assert (await client.get(BUNDLE)).status_code == 401


async def revoked_once_looked_up(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The credential ends, and is heard to, while its caller waits for the newest bundle."""
    newest = served.hub.newest

    async def late(product: str) -> Any:
        monkeypatch.setattr(served.hub, "newest", newest)
        await sync_to_async(revoke_credential)(SYSTEM_ACTOR, served.credential_id, "lost", SLUG)
        async with asyncio.timeout(30):
            while len(served.hub.callers):  # noqa: ASYNC110 - what is forgotten tells nobody
                await asyncio.sleep(0.01)
        return await newest(product)

    monkeypatch.setattr(served.hub, "newest", late)


async def test_a_stream_that_opens_while_its_credential_is_revoked_ends_at_once(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with served.client() as client:
        tag = (await client.get(BUNDLE)).headers["ETag"]
        await revoked_once_looked_up(served, monkeypatch)
        async with streaming(client, tag) as reader:
            assert await reader.ended(10)


async def test_so_does_a_poll(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async with served.client() as client:
        tag = (await client.get(BUNDLE)).headers["ETag"]
        await revoked_once_looked_up(served, monkeypatch)
        waiting = {"If-None-Match": tag, "Prefer": "wait=30"}
        async with asyncio.timeout(10):
            assert (await client.get(BUNDLE, headers=waiting)).status_code == 401


async def test_an_owner_who_left_takes_the_credential_along(served: Served) -> None:
    async with served.client() as client, streaming(client) as reader:
        await reader.next()
        await User.objects.filter(username="dee").aupdate(is_active=False)
        assert await reader.ended()
        assert (await client.get(BUNDLE)).status_code == 401


def replaced(door: str, credential_id: int) -> str:
    """The new token of the edge, by one of the ways to replace it."""
    ben = Client()
    ben.force_login(User.objects.get(username="ben"))
    asked = {"credential": credential_id, "reason": "due", "overlap": "1", "overlap_s": 3600}
    kind = "application/json" if door.startswith("/api") else MULTIPART_CONTENT
    answer = ben.post(door.format(SLUG, credential_id), asked, kind)
    found = re.search(r"orc_edge_[\w-]{43}", answer.content.decode())
    assert found, answer.content
    return found[0]


DOORS = [
    *["/products/{0}/access/rotate", "/api/v1/products/{0}/tokens/{1}/rotate"],
    *["/products/{0}/edges/edge-1/rotate", "/api/v1/products/{0}/edges/edge-1/rotate"],
]


@pytest.mark.parametrize("door", DOORS)
async def test_during_a_rotation_both_tokens_are_the_same_edge(served: Served, door: str) -> None:
    token = await sync_to_async(replaced)(door, served.credential_id)
    await same_edge(token, served)


def stolen() -> None:
    revoke_edge(actor("ben"), Edge.objects.select_related("product").get(), "stolen")


@pytest.mark.parametrize("door", DOORS)
async def test_an_edge_that_is_revoked_shows_neither_token_any_more(
    served: Served, door: str
) -> None:
    token = await sync_to_async(replaced)(door, served.credential_id)
    await sync_to_async(stolen)()
    for shown in (token, served.token):
        async with served.client(shown) as client:
            assert (await client.get(BUNDLE)).status_code == 401


async def test_so_they_are_where_the_edge_comes_with_the_old_one_afterwards(
    served: Served,
) -> None:
    await Edge.objects.all().adelete()
    token = await sync_to_async(replaced)(DOORS[0], served.credential_id)
    await same_edge(served.token, served)
    await same_edge(token, served)


async def same_edge(token: str, served: Served) -> None:
    body = {"edge": "edge-1", "publication": 1, "state": "active"}
    for shown in (token, served.token, token):
        async with served.client(shown) as client:
            answer = await client.post(f"/edge/v1/products/{SLUG}/activations", json=body)
            assert answer.status_code == 200, answer.json()
            assert (await client.get(BUNDLE)).status_code == 200
    assert await Edge.objects.acount() == 1


async def test_a_drill_is_told_to_streams_and_ends_long_polls(served: Served) -> None:
    other = (await sync_to_async(edge_token)("edge-2"))[1]
    async with served.client() as client, served.client(other) as second:
        tag = (await client.get(BUNDLE)).headers["ETag"]
        waiting = {"If-None-Match": tag, "Prefer": "wait=20"}
        poll = asyncio.create_task(second.get(BUNDLE, headers=waiting))
        async with streaming(client, tag) as reader:
            await served.until_held(2)
            await sync_to_async(notify)(CHANNEL, f"drill:7:{SLUG}")
            assert await reader.next() == Event("drill", "7")
        answer = await asyncio.wait_for(poll, 30)
        assert (answer.status_code, answer.headers["Orchid-Drill"]) == (304, "7")


async def test_more_streams_than_are_held_get_a_clear_503_and_polls_an_answer_at_once(
    served: Served,
) -> None:
    tokens = await sync_to_async(lambda: [edge_token(f"e{n}")[1] for n in range(MOST)])()
    async with served.client() as client:
        tag = (await client.get(BUNDLE)).headers["ETag"]
        held = [asyncio.create_task(hold(served, token)) for token in tokens]
        await served.until_held(MOST)
        refused = await client.get(STREAM)
        assert (refused.status_code, refused.json()["code"]) == (503, "too_many_streams")
        assert 5 <= int(refused.headers["Retry-After"]) <= 15
        waiting = {"If-None-Match": tag, "Prefer": "wait=20"}
        answer = await asyncio.wait_for(client.get(BUNDLE, headers=waiting), 30)
        assert answer.status_code == 304
        assert 5 <= int(answer.headers["Retry-After"]) <= 15
        for task in held:
            task.cancel()
        await asyncio.gather(*held, return_exceptions=True)
        await served.until_held(0)
        async with streaming(client):
            pass


async def test_a_third_stream_of_one_edge_ends_its_first(served: Served) -> None:
    async with served.client() as client, streaming(client) as first:
        await first.next()
        async with streaming(client) as second, streaming(client) as third:
            assert await first.ended()
            await second.next()
            await third.next()


async def test_a_client_that_never_reads_is_let_go(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_stream, "SEND_S", 0.3)
    monkeypatch.setattr(edge_stream, "COMMENT_S", 0.05)
    enormous = b":" + b" " * 8_000_000 + b"\n\n"
    sent = edge_stream._sent

    async def much(send: Any, body: bytes, more: bool = True) -> None:
        await sent(send, enormous if body == b":\n\n" else body, more)

    monkeypatch.setattr(edge_stream, "_sent", much)
    asked = f"GET {STREAM} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {served.token}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", served.port)) as mute:
        mute.sendall(asked.encode())
        await served.until_held(1)
        await served.until_held(0)
    async with served.client() as client:
        assert (await client.get(BUNDLE)).status_code == 200


async def test_a_client_that_goes_without_a_word_is_forgotten(served: Served) -> None:
    task = asyncio.create_task(hold(served, served.token))
    await served.until_held(1)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await served.until_held(0)


async def test_a_lost_listener_loses_no_publication_and_no_revocation(served: Served) -> None:
    async with served.client() as client, streaming(client) as reader:
        await reader.next()
        await sync_to_async(end_listeners)()
        await sync_to_async(published)(served.product)
        assert claimed_publication((await reader.next()).data) == 2
        await sync_to_async(end_listeners)()
        await sync_to_async(revoke_credential)(SYSTEM_ACTOR, served.credential_id, "lost", SLUG)
        assert await reader.ended()


async def test_a_stranger_and_a_person_get_no_stream(served: Served) -> None:
    async with httpx.AsyncClient(base_url=served.url) as client:
        for headers in ({}, {"Authorization": "Bearer orc_edge_no"}):
            answer = await client.get(STREAM, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


async def test_many_reports_at_once_are_all_durable_when_they_are_acknowledged(
    served: Served,
) -> None:
    tokens = await sync_to_async(lambda: [edge_token(f"e{n}")[1] for n in range(20)])()

    async def report(name: str, token: str) -> int:
        body = {"edge": name, "publication": 1, "state": "active", "open_sequences": {"a": 1}}
        async with served.client(token) as client:
            answer = await client.post(f"/edge/v1/products/{SLUG}/activations", json=body)
        return answer.status_code

    answers = await asyncio.gather(*(report(f"e{n}", t) for n, t in enumerate(tokens)))
    assert answers == [200] * 20
    heard = EdgeSeen.objects.filter(active_publication=1, downloaded_publication=1)
    assert await heard.acount() == 20


async def test_what_was_handed_over_is_told_apart_from_what_is_active(served: Served) -> None:
    async with served.client() as client:
        await client.get(BUNDLE)
    await served.hub.writes.close()
    seen = await EdgeSeen.objects.aget()
    assert (seen.downloaded_publication, seen.active_publication) == (1, None)


async def test_a_certificate_counts_only_beside_the_secret_of_the_proxy(
    served: Served, settings: Settings
) -> None:
    fingerprint = "ab" * 32
    await sync_to_async(lambda: register_edge(actor("ben"), served.product, "tls-1", fingerprint))()
    secret = "s" * 40
    shown = {"Orchid-Client-Certificate": f"Hash={fingerprint};By=spiffe://x"}
    keys = f"/edge/v1/products/{SLUG}/keys"
    async with httpx.AsyncClient(base_url=served.url) as client:
        proved = shown | {"Orchid-Proxy-Secret": secret}
        assert (await client.get(keys, headers=proved)).status_code == 401  # off by default
        settings.EDGES = Edges(held=MOST, proxy_secret=secret)
        assert (await client.get(keys, headers=proved)).json()["edge"] == "tls-1"
        assert (await client.get(keys, headers=shown)).status_code == 401
        wrong = shown | {"Orchid-Proxy-Secret": "x" * 40}
        assert (await client.get(keys, headers=wrong)).status_code == 401
        bearer = {"Authorization": f"Bearer cert:{fingerprint}"}
        assert (await client.get(keys, headers=bearer)).status_code == 401


async def hold(served: Served, token: str) -> None:
    async with served.client(token) as client, streaming(client) as reader:
        await reader.next()
        await asyncio.Event().wait()


def notify(channel: str, payload: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [channel, payload])
