"""Whatever comes to the edges' own entry: an answer of one shape, soon, and no fault of ours."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async

from policies.models import Product
from releases import edge_bodies
from releases.models import Drill, EdgeSeen
from releases.services.drill import start_drill
from tests.releases.hostile.hostile_values import DIGITS, LONG
from tests.releases.releases_cast import actor, published
from tests.releases.test_edge_entry import BASE, Entry, entry, shared

__all__ = ["entry", "shared"]  # fixtures of the edges' door

pytestmark = pytest.mark.django_db(transaction=True)

#: Of a report's fields, as they are written in JSON.
VALUES = [
    *("null", "true", "[]", "{}", "-1", "1.5", "1e999", "2147483648", DIGITS, '""', f'"{LONG}"'),
    *('"a\\u0000"', '"\\ud800"', '{"\\u0000":1}', '{"\\ud800":1}', '{"a":1e999}', '{"a":{"b":-1}}'),
    *('"0001-01-01T00:00:00+14:00"', '"9999-12-31T23:59:59-14:00"', '"9999-12-31T23:59:60Z"'),
    *('"2026-01-01T00:00:00"', '"../x"', '"edge-1\\n"', "[" * 10_000 + "]" * 10_000),
]
REPORT = {"edge": '"edge-1"', "publication": "1", "state": '"active"'}
FIELDS = [*REPORT, "reason", "open_sequences", "open_manifests", "sent_at", "boot_id", "unheard_of"]
TRIED = ["state", "reason", "fetch_ms", "prepare_ms", "replicas"]
BODIES = ["", "null", "[]", "{", '{"a":' * 10_000, "\ufeff{}", '{"edge":"a","edge":"b"}']
HEADERS = [
    {"If-None-Match": "x" * 1_000_000},
    {"If-None-Match": '*, W/"a", "b'},
    *({"Prefer": f"wait={n}"} for n in ("1e9", "-5", "99999999", "0x1", "1;2", "\u00b2")),
    {"Authorization": "Bearer"},
    {"Authorization": "bearer " + LONG},
    {"Authorization": "Bearer \u00e9"},
    {"Orchid-Edge": "../x"},
    {"Orchid-Edge": LONG},
    {"Orchid-Proxy-Secret": "\u00e9", "Authorization": ""},
    {"Content-Type": "text/plain; charset=base64"},
]
PATHS = [
    *("/v1/nothing", f"{BASE}/bundle/", f"{BASE}/drills/x", f"{BASE}/drills/{'9' * 30}"),
    *(f"{BASE}/drills/\u0663", "/v1/products/a%00b/bundle", f"/v1/products/{LONG[:5000]}/bundle"),
    *(f"{BASE}%2f..%2f/bundle", f"{BASE}/activations", f"{BASE}/keys", f"{BASE}/bundle"),
]


def drilled(product: Product) -> tuple[Drill, bool]:
    return start_drill(actor("dee"), product)


def written(fields: dict[str, str]) -> str:
    return "{" + ",".join(f'"{name}":{value}' for name, value in fields.items()) + "}"


def assert_told(answer: httpx.Response, asked: Any) -> None:
    assert answer.status_code < 500, (asked, answer.text)
    if answer.status_code >= 400 and answer.request.method != "HEAD":
        assert answer.headers["Content-Type"] == "application/problem+json", asked
        assert answer.json()["code"], asked
        assert answer.json()["detail"], asked


async def test_no_report_breaks_the_entry(entry: Entry) -> None:
    bodies = [written({**REPORT, name: value}) for name in FIELDS for value in VALUES]
    for body in [*bodies, *BODIES]:
        sent = body.encode()
        assert_told(await entry.client.post(f"{BASE}/activations", content=sent), body[:80])
    seen = await EdgeSeen.objects.aget()
    assert seen.active_publication == 1


async def test_a_name_that_no_edge_has_is_told_as_such(entry: Entry) -> None:
    answer = await entry.says(1, edge="../x")
    assert answer.status_code == 400
    assert "letters, digits, dots" in answer.json()["detail"]


async def test_no_answer_to_a_drill_breaks_the_entry(entry: Entry) -> None:
    await sync_to_async(published)(entry.product)
    await entry.says(1)
    drill, _ = await sync_to_async(drilled)(entry.product)
    for body in [
        *(written({"state": '"ready"', name: value}) for name in TRIED for value in VALUES),
        *BODIES,
    ]:
        sent = body.encode()
        assert_told(await entry.client.post(f"{BASE}/drills/{drill.pk}", content=sent), body[:80])


async def test_no_header_address_or_method_breaks_the_entry(entry: Entry) -> None:
    for given in HEADERS:
        raw = [(name.encode(), value.encode("latin-1")) for name, value in given.items()]
        for path in ("bundle", "keys"):
            assert_told(await entry.client.get(f"{BASE}/{path}", headers=raw), str(given)[:80])
    for path in PATHS:
        for method in ("GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE"):
            answer = await entry.client.request(method, path)
            assert_told(answer, (method, path[:80]))
            assert not answer.is_redirect


async def test_a_body_that_takes_for_ever_is_given_up(
    entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge_bodies, "SLOWEST_REPORT_S", 0.2)

    async def drop_by_drop() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.05)

    sent = entry.client.post(f"{BASE}/activations", content=drop_by_drop())
    answer = await asyncio.wait_for(sent, 30)
    assert (answer.status_code, answer.json()["code"]) == (408, "too_slow")


async def test_an_edge_that_goes_away_is_no_fault(entry: Entry) -> None:
    """Raised, it would be a traceback in the log for each connection that broke."""
    said: list[dict[str, Any]] = []

    async def gone() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def hear(message: dict[str, Any]) -> None:
        said.append(message)

    headers = [(b"authorization", entry.client.headers["Authorization"].encode())]
    scope = {
        "type": "http",
        "method": "POST",
        "path": f"{BASE}/activations",
        "query_string": b"",
        "headers": headers,
        "server": ("edge", 80),
        "scheme": "http",
    }
    await entry.app(scope, gone, hear)
    assert said[0]["status"] == 400


async def test_one_credential_holds_two_streams_and_no_more(entry: Entry) -> None:
    """The oldest ends as another comes, so that nobody takes all the room there is."""
    hub = entry.app.state.hub
    tag = (await entry.bundle()).headers["ETag"]
    polls = [asyncio.create_task(entry.bundle(tag, wait=30)) for _ in range(40)]
    async with asyncio.timeout(60):
        done, waiting = await asyncio.wait(polls, return_when=asyncio.FIRST_COMPLETED)
        while len(waiting) > 2:
            more, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            done |= more
    assert {poll.result().status_code for poll in done} == {304}
    assert (len(waiting), hub.held) == (2, 2)
    for poll in waiting:
        poll.cancel()
