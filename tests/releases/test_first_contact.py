"""The first requests of one edge come at once, by a client that tries again, or two processes."""

import asyncio
from typing import Any

import httpx
import pytest
from asgiref.sync import sync_to_async

from policies.models import Product
from releases.models import Edge
from tests.releases.edge_server import BUNDLE, Served, registered, serving
from tests.releases.releases_cast import SLUG, edge_token

pytestmark = pytest.mark.django_db(transaction=True)
BASE = f"/edge/v1/products/{SLUG}"
AT_ONCE, CREDENTIALS = 8, 4


@pytest.fixture
def shared() -> tuple[Product, int, str]:
    return registered()


async def asks(client: httpx.AsyncClient, what: str, name: str) -> httpx.Response:
    headers = {"Orchid-Edge": name}
    if what != "activations":
        return await client.get(f"{BASE}/{what}", headers=headers)
    told: dict[str, Any] = {"edge": name, "publication": 1, "state": "active", "boot_id": "b1"}
    return await client.post(f"{BASE}/activations", json=told, headers=headers)


async def answers(served: Served, credential: str, names: list[str]) -> list[httpx.Response]:
    """Of all that a credential asks first, at one moment, under these names in turn."""
    _, token = await sync_to_async(edge_token)(credential)
    asked = ["keys", "activations"] * (AT_ONCE // 2)
    turns = [names[number // 2 % len(names)] for number in range(AT_ONCE)]
    async with served.client(token) as client:
        await client.get(BUNDLE)  # its connections and its credential are known; no edge is
        return await asyncio.gather(*map(asks, [client] * AT_ONCE, asked, turns))


async def test_requests_of_one_edge_at_once_register_it_once(
    shared: tuple[Product, int, str],
) -> None:
    async with serving(shared, 3) as served:
        for number in range(CREDENTIALS):
            found = await answers(served, f"new-{number}", [f"new-{number}"])
            assert [one.status_code for one in found] == [200] * AT_ONCE, found[0].text
        assert await Edge.objects.filter(name__startswith="new-").acount() == CREDENTIALS


async def test_of_two_names_at_once_for_one_credential_one_is_told_of_the_other(
    shared: tuple[Product, int, str],
) -> None:
    async with serving(shared, 3) as served:
        for number in range(CREDENTIALS):
            names = [f"one-{number}", f"other-{number}"]
            found = await answers(served, f"both-{number}", names)
            assert sorted(one.status_code for one in found) == [200] * 4 + [409] * 4
            refused = next(one for one in found if one.status_code == 409)
            assert refused.json()["code"] == "edge_name_taken"
            assert await Edge.objects.filter(name__in=names).acount() == 1
