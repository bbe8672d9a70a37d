"""The edges' own entry for telemetry answers as Django's door does, and stores the same."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import zstandard
from asgiref.sync import sync_to_async
from django.db import connections
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from accounts.guard import SYSTEM_ACTOR
from accounts.models import Credential, User
from accounts.services import revoke_credential
from controlplane import metrics
from controlplane.middleware import ACCEPTABLE_ID
from ingest import edge_store, tasks
from ingest.edge_asgi import TelemetryEntry
from ingest.models import Batch, Source
from policies.models import Product
from releases.edge_store import conninfo
from tests.ingest.ingest_cast import SLUG, Sender, count_waiting, token

pytestmark = pytest.mark.django_db(transaction=True)
URL, ROLLUPS = "/api/v1/ingest/requests", "/api/v1/ingest/rollups"
SHADOW = "/api/v1/ingest/shadow"
BIG = b"x" * (8 * 1024**2 + 1)


async def _teapot(scope: Scope, receive: Receive, send: Send) -> None:
    """Stands where Django is mounted."""
    await Response("django", 418)(scope, receive, send)


@dataclass
class Door:
    client: httpx.AsyncClient
    entry: TelemetryEntry
    bearer: str

    async def post(self, body: bytes, url: str = URL, **headers: str) -> httpx.Response:
        given = {"Authorization": f"Bearer {self.bearer}", **headers}
        return await self.client.post(url, content=body, headers=given)


@pytest.fixture
def bearer(product: Product, ana: User) -> str:
    return token("edge", ana)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When the workers were told that something waits."""
    times: list[float] = []
    monkeypatch.setattr(tasks.drain, "apply_async", lambda **_: times.append(1.0))
    return times


@pytest.fixture
async def door(bearer: str, told: list[float]) -> AsyncIterator[Door]:
    entry = TelemetryEntry(_teapot, conninfo())
    app = Starlette(routes=[*entry.routes(), Mount("/", app=_teapot)])
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        yield Door(client, entry, bearer)
    await entry.close()
    await sync_to_async(connections.close_all)()


#: Each is sent to both doors, the second of a pair after the first.
DELIVERIES: dict[str, list[tuple[bytes, dict[str, str]]]] = {
    "new": [(b"{}", {"Batch-Id": "b"})],
    "empty": [(b"", {"Batch-Id": "b", "First-Seq": "3", "Last-Seq": "2"})],
    "again": [(b"{}", {"Batch-Id": "b"})] * 2,
    "other content": [(b"{}", {"Batch-Id": "b"}), (b"[]", {"Batch-Id": "b"})],
    "no id": [(b"{}", {})],
    "a bad id": [(b"{}", {"Batch-Id": "no spaces"})],
    "a bad sequence": [(b"{}", {"Batch-Id": "b", "First-Seq": "-1"})],
    "a bad watermark": [(b"{}", {"Batch-Id": "b", "Watermark": "now"})],
    "too much": [(BIG, {"Batch-Id": "b"})],
    "zstd": [(zstandard.compress(b"{}"), {"Batch-Id": "b", "Content-Encoding": "zstd"})],
    "no zstd": [(b"{}", {"Batch-Id": "b", "Content-Encoding": "zstd"})],
    "another encoding": [(b"{}", {"Batch-Id": "b", "Content-Encoding": "br"})],
    "another product": [(b"{}", {"Batch-Id": "b", "product": "other"})],
    "a NUL": [(b"{}", {"Batch-Id": "b", "product": "%00"})],
    "an unknown token": [(b"{}", {"Batch-Id": "b", "Authorization": "Bearer orc_edge_x"})],
}
MOMENTS = ("received_at", "done_at")


@pytest.mark.parametrize("deliveries", DELIVERIES.values(), ids=DELIVERIES)
async def test_both_doors_answer_the_same(
    door: Door, deliveries: list[tuple[bytes, dict[str, str]]]
) -> None:
    for body, headers in deliveries:
        named = {**headers}
        url = f"{URL}?product={slug}" if (slug := named.pop("product", "")) else URL
        own = await door.post(body, url, **named)
        await sync_to_async(_forget_last)(own.status_code, headers)
        django = await sync_to_async(_by_django)(door.bearer, url, body, named)
        assert own.status_code == django.status_code
        assert _told(own.json()) == _told(django.json())
        for header in ("Content-Type", "WWW-Authenticate", "Accept-Encoding"):
            assert own.headers.get(header) == django.headers.get(header)


async def test_a_rollup_at_either_door_is_of_the_same_source_and_counted_once(
    door: Door, rollup: Any
) -> None:
    body = json.dumps(rollup()).encode()
    own = await door.post(body, ROLLUPS, **{"Batch-Id": "a"})
    django = await sync_to_async(_by_django)(door.bearer, ROLLUPS, body, {"Batch-Id": "b"})
    assert (own.status_code, django.status_code) == (202, 202)
    assert {**_told(own.json()), "batch_id": "b"} == _told(django.json())
    await sync_to_async(count_waiting)()
    assert await Source.objects.acount() == 1
    counts = [batch.counts async for batch in Batch.objects.order_by("pk")]
    assert [(one["inserted"], one["duplicates"]) for one in counts] == [(1, 0), (0, 1)]


async def test_a_decision_made_twice_has_one_source_of_its_own_at_either_door(
    door: Door, record: Any
) -> None:
    body, headers = b"no line", {"Batch-Id": "a"}
    own = await door.post(body, SHADOW, **headers)
    django = await sync_to_async(_by_django)(door.bearer, SHADOW, body, {"Batch-Id": "b"})
    await door.post(json.dumps(record()).encode(), URL, **{"Batch-Id": "c"})
    assert {**_told(own.json()), "batch_id": "b"} == _told(django.json())
    kinds = [source.kind async for source in Source.objects.order_by("pk")]
    assert kinds == ["shadow", "edge"]


def _forget_last(status: int, headers: dict[str, str]) -> None:
    """So that Django's door finds what the other one found."""
    if status == 202:
        Batch.objects.filter(batch_id=headers["Batch-Id"]).delete()


def _by_django(bearer: str, url: str, body: bytes, headers: dict[str, str]) -> Any:
    sender = Sender(bearer)
    return sender.client.post(url, body, content_type="", headers=headers)


def _told(answer: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in answer.items() if key not in MOMENTS}


@pytest.mark.parametrize(
    ("given", "kept"), [("edge-7:41", True), ("no spaces", False), ("", False)]
)
async def test_both_doors_name_a_request_and_count_it_under_one_route(
    door: Door, given: str, kept: bool
) -> None:
    asked = {"Batch-Id": "b", "X-Request-Id": given}
    before = _counted()
    own = await door.post(b"{}", **asked)
    django = await sync_to_async(_by_django)(door.bearer, URL, b"{}", asked)
    for answer in (own, django):
        named = answer.headers["X-Request-Id"]
        assert (named == given) is kept
        assert ACCEPTABLE_ID.fullmatch(named)
    assert _counted() == (before[0] + 1, before[1] + 1)


def _counted() -> tuple[float, float]:
    """Answers of 202 and of 200 under the route's name; the second delivery is the first again."""
    labels = {"route": "ingest-requests", "method": "POST"}
    found = [
        metrics.registry.get_sample_value("orchid_http_requests_total", labels | {"status": one})
        for one in ("202", "200")
    ]
    return found[0] or 0.0, found[1] or 0.0


async def test_what_is_acknowledged_is_stored_as_it_came(door: Door, told: list[float]) -> None:
    sequence = {"Boot-Id": "boot", "First-Seq": "1", "Last-Seq": "2"}
    answer = await door.post(b"one\ntwo", **{"Batch-Id": "b", **sequence})
    assert answer.status_code == 202
    batch = await Batch.objects.select_related("source").aget()
    assert bytes(batch.body or b"") == b"one\ntwo"
    assert (batch.kind, batch.status, batch.size) == ("edge", "received", 7)
    assert (batch.boot_id, batch.first_seq, batch.last_seq) == ("boot", 1, 2)
    assert (batch.source.kind, batch.source.name) == ("edge", "edge-1")
    await door.entry.close()
    assert told


async def test_deliveries_at_once_of_one_id_are_one_batch(door: Door) -> None:
    answers = await asyncio.gather(*(door.post(b"{}", **{"Batch-Id": "b"}) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [202]
    assert await Batch.objects.acount() == 1


async def test_deliveries_at_once_of_one_new_source_make_one_source(door: Door) -> None:
    answers = await asyncio.gather(*(door.post(b"{}", **{"Batch-Id": f"b{n}"}) for n in range(8)))
    assert {answer.status_code for answer in answers} == {202}
    assert (await Batch.objects.acount(), await Source.objects.acount()) == (8, 1)


async def test_a_full_inbox_asks_to_wait(door: Door, settings: Any) -> None:
    settings.INBOX = type(settings.INBOX)(1, 10**9, 10**6, 10**12)
    first, second = [await door.post(b"{}", **{"Batch-Id": name}) for name in "ab"]
    assert (first.status_code, second.status_code) == (202, 429)
    assert second.json()["code"] == "inbox_full"
    assert int(second.headers["Retry-After"]) >= 3


async def test_a_revoked_credential_is_refused_as_soon_as_it_is_asked_for_again(
    door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await door.post(b"", **{"Batch-Id": "a"})).status_code == 202
    await sync_to_async(_revoke)()
    monkeypatch.setattr(edge_store, "BELIEVED_S", 0.0)
    assert (await door.post(b"", **{"Batch-Id": "b"})).status_code == 401


def _revoke() -> None:
    revoke_credential(SYSTEM_ACTOR, Credential.objects.get().pk, "lost", SLUG)


async def test_a_credential_of_another_kind_brings_no_records(door: Door, ana: User) -> None:
    ci = await sync_to_async(token)("ci", ana)
    answer = await door.post(b"", **{"Batch-Id": "a", "Authorization": f"Bearer {ci}"})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


async def test_who_brings_no_token_and_who_reads_is_left_to_django(door: Door) -> None:
    assert (await door.client.post(URL, content=b"")).status_code == 418
    assert (await door.client.get(URL)).status_code == 418


async def test_a_database_that_is_not_there_is_503(
    bearer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_store, "WAIT_S", 0.2)
    entry = TelemetryEntry(_teapot, "host=/nowhere dbname=none")
    app = Starlette(routes=list(entry.routes()))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        answer = await Door(client, entry, bearer).post(b"", **{"Batch-Id": "b"})
    await entry.close()
    await sync_to_async(connections.close_all)()
    assert (answer.status_code, answer.json()["code"]) == (503, "storage_unavailable")
