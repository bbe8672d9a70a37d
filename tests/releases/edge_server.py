"""The edges' entry behind a real server, and one who reads its stream."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import uvicorn
from asgiref.sync import sync_to_async
from django.db import connection, connections
from starlette.applications import Starlette
from starlette.routing import Mount

from orchid.edge.stream import Event, Parser
from policies.models import Product
from releases.edge_asgi import create_app
from tests.releases.releases_cast import SLUG, cast, edge_token, live_product

STREAM, BUNDLE = "/edge/v1/stream", f"/edge/v1/products/{SLUG}/bundle"


@dataclass
class Served:
    """A server with the entry alone, a product and one registered edge."""

    app: Starlette
    url: str
    port: int
    product: Product
    credential_id: int
    token: str

    @property
    def hub(self) -> Any:
        return self.app.state.hub

    def client(self, token: str = "", **headers: str) -> httpx.AsyncClient:
        shown = {"Authorization": f"Bearer {token or self.token}", "Orchid-Edge": "edge-1"}
        return httpx.AsyncClient(base_url=self.url, headers=shown | headers, timeout=30)

    async def until_held(self, number: int) -> None:
        async with asyncio.timeout(30):
            while self.hub.held != number:  # noqa: ASYNC110 - the hub tells nobody of its numbers
                await asyncio.sleep(0.01)


def registered() -> tuple[Product, int, str]:
    """The cast, a live product, and the credential and token of its one edge."""
    cast()
    product = live_product()
    credential, token = edge_token("edge-1")
    return product, credential.pk, token


@asynccontextmanager
async def serving(
    shared: tuple[Product, int, str], at_most: int, dsn: str | None = None
) -> AsyncIterator[Served]:
    """The entry behind a server of its own, on a port that was free."""
    app = create_app(dsn, at_most)
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    root = Starlette(routes=[Mount("/edge", app=app)])
    config = uvicorn.Config(root, log_level="critical", timeout_graceful_shutdown=1, ws="none")
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    one = Served(app, f"http://127.0.0.1:{port}", port, *shared)
    try:
        async with one.client() as client:
            await client.get(f"/edge/v1/products/{SLUG}/keys")
        yield one
    finally:
        server.should_exit = True
        await app.state.hub.close()
        await task
        listener.close()
        await sync_to_async(connections.close_all)()


class Reader:
    """Events of one open stream, one after the other."""

    def __init__(self, answer: httpx.Response) -> None:
        self.answer, self._parser = answer, Parser()
        self._pieces = answer.aiter_bytes()
        self._events: list[Event] = []

    async def next(self) -> Event:
        async with asyncio.timeout(30):
            while not self._events:
                self._events += self._parser.feed(await anext(self._pieces))
        return self._events.pop(0)

    async def ended(self, within_s: float = 30) -> bool:
        async with asyncio.timeout(within_s):
            async for _ in self._pieces:
                pass
        return True


@asynccontextmanager
async def streaming(client: httpx.AsyncClient, tag: str = "") -> AsyncIterator[Reader]:
    headers = {"If-None-Match": tag} if tag else {}
    async with client.stream("GET", STREAM, headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream"
        yield Reader(answer)


def end_listeners() -> None:
    """As a restart of the server would; the pool's connections stay."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND (query LIKE 'LISTEN%%' OR query LIKE '%%CROSS JOIN LATERAL%%')"
        )
