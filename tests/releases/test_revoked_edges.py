"""How soon a revocation counts at the edges' entry, whatever becomes of what tells it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from asgiref.sync import sync_to_async
from django.conf import settings as site
from psycopg.conninfo import make_conninfo

from policies.models import Product
from releases import edge_hub
from releases.edge_store import conninfo
from releases.models import Edge
from releases.services.edges import revoke_edge
from tests.releases.edge_server import (
    BUNDLE,
    Reader,
    Served,
    end_listeners,
    registered,
    serving,
    streaming,
)
from tests.releases.releases_cast import actor

pytestmark = pytest.mark.django_db(transaction=True)
#: Seconds from the commit of a revocation: told at once, after a lost connection, after a dead one.
AT_ONCE_S, RECONNECTED_S, DEAD_S = 1.0, 3.0, 15.0


@pytest.fixture
def shared() -> tuple[Product, int, str]:
    return registered()


async def revoked(served: Served) -> float:
    """The moment, of the loop's clock, from which the credential is revoked."""
    edge = await Edge.objects.select_related("product").aget()
    await sync_to_async(lambda: revoke_edge(actor("ben"), edge, "stolen"))()
    return asyncio.get_running_loop().time()


async def until_refused(served: Served, since: float) -> float:
    """Seconds until a poll of the edge is refused."""
    async with served.client() as client, asyncio.timeout(DEAD_S):
        while (await client.get(BUNDLE)).status_code != 401:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)
    return asyncio.get_running_loop().time() - since


@asynccontextmanager
async def held_open(served: Served) -> AsyncIterator[tuple[httpx.AsyncClient, Reader]]:
    """An edge with a stream that has told it what is published."""
    async with served.client() as client, streaming(client) as reader:
        await reader.next()
        yield client, reader


async def until_ended(reader: Reader, since: float) -> float:
    async with asyncio.timeout(DEAD_S):
        await reader.ended(DEAD_S)
    return asyncio.get_running_loop().time() - since


async def test_a_revocation_ends_the_stream_and_the_next_poll_within_a_second(
    shared: tuple[Product, int, str],
) -> None:
    async with serving(shared, 3) as served, held_open(served) as (client, reader):
        assert (await client.get(BUNDLE)).status_code == 200  # it is known from memory now
        since = await revoked(served)
        refused_s = await until_refused(served, since)
        ended_s = await until_ended(reader, since)
    assert (refused_s < AT_ONCE_S, ended_s < AT_ONCE_S) == (True, True), (refused_s, ended_s)


async def test_while_nobody_listens_nothing_is_believed(shared: tuple[Product, int, str]) -> None:
    """The listening connection is cut: each poll is looked up, and the stream ends soon after."""
    async with serving(shared, 3) as served, held_open(served) as (_, reader):
        await sync_to_async(end_listeners)()
        since = await revoked(served)
        refused_s = await until_refused(served, since)
        ended_s = await until_ended(reader, since)
    assert (refused_s < AT_ONCE_S, ended_s < RECONNECTED_S) == (True, True), (refused_s, ended_s)


async def test_a_connection_that_died_without_a_word_is_found_and_not_believed(
    shared: tuple[Product, int, str], tmp_path: Path
) -> None:
    """No hint comes and no end either, as when a switch forgot the connection."""
    async with (
        relaying(tmp_path) as (dsn, fall_deaf),
        serving(shared, 3, dsn) as served,
        held_open(served) as (client, reader),
    ):
        await asyncio.wait_for(served.hub.listening.wait(), 30)
        assert (await client.get(BUNDLE)).status_code == 200
        fall_deaf()
        since = await revoked(served)
        refused_s = await until_refused(served, since)
        ended_s = await until_ended(reader, since)
    found_s = 2 * edge_hub.CHECK_S + AT_ONCE_S
    assert (refused_s < found_s, ended_s < DEAD_S) == (True, True), (refused_s, ended_s)


@dataclass
class Way:
    """One connection to the database, and whether it has asked to be told of what changes."""

    listens: bool = False


@asynccontextmanager
async def relaying(folder: Path) -> AsyncIterator[tuple[str, Callable[[], None]]]:
    """The database by way of a relay, and what makes its listening connections go dead."""
    there = str(site.DATABASES["default"]["HOST"])
    if not there.startswith("/"):
        pytest.skip("relays the socket of a PostgreSQL on this machine")
    deaf, open_ones = asyncio.Event(), asyncio.Event()
    writers: list[asyncio.StreamWriter] = []

    async def passing(source: asyncio.StreamReader, sink: asyncio.StreamWriter, way: Way) -> None:
        while data := await source.read(65_536):
            way.listens = way.listens or (b"LISTEN" in data and not deaf.is_set())
            if way.listens and deaf.is_set():
                await open_ones.wait()  # nothing more comes through, and no end
            sink.write(data)
        sink.close()

    async def relayed(up: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        down, asks = await asyncio.open_unix_connection(f"{there}/.s.PGSQL.5432")
        writers.extend((answers, asks))
        way = Way()
        with suppress(OSError):
            await asyncio.gather(passing(up, asks, way), passing(down, answers, way))

    server = await asyncio.start_unix_server(relayed, str(folder / ".s.PGSQL.5432"))
    try:
        yield make_conninfo(conninfo(), host=str(folder)), deaf.set
    finally:
        open_ones.set()
        server.close()
        for writer in writers:
            writer.close()
        await asyncio.gather(*(one.wait_closed() for one in writers), return_exceptions=True)
