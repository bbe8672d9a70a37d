"""The edges' own entry for telemetry: what they send each second, beside Django's middleware.

The checks, the statement and the answers are those of `ingest/services/storing.py`, which Django's
views use too; what differs is that nothing here waits in a thread of its own. Whoever comes without
a bearer token is left to Django.
"""

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import Any

import msgspec
from django.db import DatabaseError, InterfaceError, connection
from psycopg import AsyncConnection
from psycopg import Error as DriverError
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from accounts.authentication import credential_for
from accounts.guard import Permission, machine
from controlplane import metrics
from controlplane.errors import (
    PROBLEM_JSON,
    Problem,
    Unauthenticated,
    problem_body,
    unavailable,
)
from controlplane.middleware import identity_of
from controlplane.web import whole_number
from ingest.deliveries import (
    Sender,
    batch_id_of,
    encoding_of,
    meta_of,
    refuse_over,
    sender_for,
)
from ingest.services.encoding import MAX_BODY
from ingest.services.inbox import ring
from ingest.services.storing import (
    RECEIPT_OF,
    STORE,
    Delivery,
    SourceKey,
    again,
    created,
    parameters,
)
from ingest.states import SourceKind

logger = logging.getLogger(__name__)

#: What is delivered where, and what its source is.
KINDS = {"requests": SourceKind.EDGE, "rollups": SourceKind.ROLLUP}
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


class TelemetryEntry:
    """ASGI: deliveries of edges by themselves, everything else by `django`."""

    def __init__(self, django: ASGIApp, dsn: str) -> None:
        self.django, self.telemetry = django, Telemetry(dsn)

    def routes(self) -> list[Route]:
        """For the server's router, before Django's mount; other methods fall through to it."""
        return [
            Route(f"/api/v1/ingest/{name}", _Door(self, name), methods=["POST"]) for name in KINDS
        ]

    async def close(self) -> None:
        await self.telemetry.close()


class _Door:
    """One of the entry's addresses, measured and named like Django's view of it."""

    def __init__(self, entry: TelemetryEntry, name: str) -> None:
        self._entry, self._kind, self._route = entry, KINDS[name], f"ingest-{name}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not bearer_of(scope):
            await self._entry.django(scope, receive, send)
            return
        began, request = time.perf_counter(), Request(scope, receive)
        try:
            answer = await self._answer(request)
        except ClientDisconnect:
            return
        except Exception:
            self._observe(500, began)
            raise
        self._observe(answer.status_code, began)
        answer.headers["X-Request-Id"] = identity_of(request.headers.get("X-Request-Id", ""))
        await answer(scope, receive, send)

    def _observe(self, status: int, began: float) -> None:
        metrics.observe(self._route, "POST", status, time.perf_counter() - began)

    async def _answer(self, request: Request) -> Response:
        try:
            sender = await self._entry.telemetry.sender(request)
            delivery = await self._delivery(request, sender)
            new, receipt = await self._entry.telemetry.stored(delivery)
        except Problem as problem:
            return problem_answer(problem, request)
        except (DatabaseError, InterfaceError, DriverError) as error:
            away = unavailable(error)
            if away is None:
                raise
            return problem_answer(away, request)
        return Response(
            msgspec.json.encode(receipt), 202 if new else 200, media_type="application/json"
        )

    async def _delivery(self, request: Request, sender: Sender) -> Delivery:
        return Delivery(
            product=sender.product.pk,
            slug=sender.product.slug,
            source=SourceKey(SourceKind.EDGE, sender.name),
            batch_id=batch_id_of(request),
            kind=self._kind,
            body=await _body(request),
            content_type=request.headers.get("Content-Type", ""),
            encoding=encoding_of(request),
            meta=meta_of(request),
        )


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


async def _body(request: Request) -> bytes:
    """The body, refused while it is still coming in when it is larger than it may be."""
    refuse_over(MAX_BODY, whole_number(request.headers.get("Content-Length", "")) or 0)
    parts = bytearray()
    async for part in request.stream():
        parts += part
        refuse_over(MAX_BODY, len(parts))
    return bytes(parts)


async def _one(database: AsyncConnection[Row], query: Any, values: Row) -> Row:
    cursor = await database.execute(query, values)
    row = await cursor.fetchone()
    assert row is not None
    return row


async def _in_utc(database: AsyncConnection[Row]) -> None:
    await database.execute("SET TIME ZONE 'UTC'")


def problem_answer(problem: Problem, request: Request) -> Response:
    """As `controlplane.errors.respond` answers a machine."""
    headers = dict(problem.headers)
    if problem.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="orchid"'
    body = msgspec.json.encode(problem_body(problem, request.url.path))
    return Response(body, problem.status, headers, media_type=PROBLEM_JSON)
