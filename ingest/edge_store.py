"""What the edges' own entry holds between deliveries: connections, senders, a bell for workers."""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from django.db import connection
from psycopg import AsyncConnection
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from starlette.requests import Request
from starlette.types import Scope

from accounts.authentication import credential_for
from accounts.guard import Permission, machine
from controlplane.errors import Unauthenticated
from ingest.deliveries import Sender, sender_for
from ingest.services.inbox import ring
from ingest.services.storing import RECEIPT_OF, STORE, Delivery, again, created, parameters

#: A credential is asked for again after this, so that a revoked one stops as soon.
BELIEVED_S = 1.0
#: A delivery waits so long for a connection.
WAIT_S = 5.0
#: Hashing and unpacking of larger bodies leave the loop to others.
_SMALL = 64 * 1024

Row = dict[str, Any]


@dataclass(frozen=True)
class Known:
    """A sender as it was found at a moment of the steady clock."""

    sender: Sender
    at_s: float


class Telemetry:
    """Connections, senders that were seen lately, and one message to the workers at a time."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._pool: AsyncConnectionPool[AsyncConnection[Row]] | None = None
        self._opening = asyncio.Lock()
        self._known: dict[tuple[str, str], Known] = {}
        self._rung, self._ringing = False, False
        self._bells: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        await asyncio.gather(*self._bells)
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    async def sender(self, request: Request) -> Sender:
        """Who delivers, by the rules of every other delivery; from memory while it is fresh."""
        token = bearer_of(request.scope)
        key = token, request.query_params.get("product", "")
        known = self._known.get(key)
        if known is None or time.monotonic() - known.at_s > BELIEVED_S:
            known = Known(await asyncio.to_thread(_asked, token, request), time.monotonic())
            self._remember(key, known)
        return known.sender

    async def stored(self, delivery: Delivery) -> tuple[bool, Row]:
        """Whether it is new, with its receipt; durable when this returns."""
        large = len(delivery.body) > _SMALL or delivery.encoding
        values = await asyncio.to_thread(parameters, delivery) if large else parameters(delivery)
        pool = await self._opened()
        async with pool.connection() as database:
            row = await _one(database, STORE, values)
            if again(row):
                row = await _one(database, STORE, values)
            new = created(row, delivery, values["sha256"])
            if new:
                self._ring()
            return new, await _one(database, RECEIPT_OF, {"id": row["id"]})

    def _remember(self, key: tuple[str, str], known: Known) -> None:
        oldest = known.at_s - BELIEVED_S
        fresh = {name: one for name, one in self._known.items() if one.at_s >= oldest}
        self._known = fresh | {key: known}

    def _ring(self) -> None:
        """Tell the workers, off the loop; what comes meanwhile is told of together."""
        self._rung = True
        if not self._ringing:
            self._ringing = True
            bell = asyncio.create_task(self._keep_ringing())
            self._bells.add(bell)
            bell.add_done_callback(self._bells.discard)

    async def _keep_ringing(self) -> None:
        while self._rung:
            self._rung = False
            await asyncio.to_thread(ring)
        self._ringing = False

    async def _opened(self) -> AsyncConnectionPool[AsyncConnection[Row]]:
        async with self._opening:
            if self._pool is None:
                pool: AsyncConnectionPool[AsyncConnection[Row]] = AsyncConnectionPool(
                    self._dsn,
                    min_size=1,
                    max_size=8,
                    timeout=WAIT_S,
                    reconnect_timeout=5,
                    check=AsyncConnectionPool.check_connection,
                    configure=_in_utc,
                    open=False,
                    kwargs={"row_factory": dict_row, "autocommit": True},
                )
                await pool.open()
                self._pool = pool
        return self._pool


def bearer_of(scope: Scope) -> str:
    """The bearer token, or nothing."""
    given = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
    scheme, _, token = given.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _asked(token: str, request: Request) -> Sender:
    try:
        credential = credential_for(token)
        if credential is None:
            raise Unauthenticated("unauthenticated", "This token is unknown, expired or revoked.")
        return sender_for(machine(credential), request, Permission.EDGE)
    finally:
        connection.close()  # back to the pool: this thread is nobody's


async def _one(database: AsyncConnection[Row], query: Any, values: Row) -> Row:
    cursor = await database.execute(query, values)
    row = await cursor.fetchone()
    assert row is not None
    return row


async def _in_utc(database: AsyncConnection[Row]) -> None:
    await database.execute("SET TIME ZONE 'UTC'")
