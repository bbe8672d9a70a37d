"""What the edges' entry reads and writes: plain SQL over an asynchronous pool, no ORM."""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, LiteralString

import msgspec
from django.conf import settings
from msgspec import Meta
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool

from orchid.engine.wire.fields import Instant

Row = dict[str, Any]


@dataclass(frozen=True)
class Caller:
    """A live edge credential, and the product it stands for."""

    credential_id: int
    name: str
    product_id: int
    product: str


@dataclass(frozen=True)
class Served:
    """The signed bytes of a product's newest publication."""

    publication: int
    etag: str
    token: bytes


# No NUL, which the database takes in no text; and a publication's number fits its column.
Text = Annotated[str, Meta(max_length=4000, pattern=r"^[^\x00]*\Z")]
Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What an edge says of itself; unknown fields are left to newer versions of it."""

    edge: str
    publication: Number | None
    state: str
    reason: Text = ""
    open_sequences: dict[Text, Number] = {}
    sent_at: Instant | None = None
    boot_id: Text = ""


def conninfo() -> str:
    """libpq's string for the database that Django is on."""
    found = settings.DATABASES["default"]
    options = {key: value for key, value in found["OPTIONS"].items() if key != "pool"}
    named = {
        "dbname": found["NAME"],
        "user": found["USER"],
        "password": found["PASSWORD"],
        "host": found["HOST"],
        "port": found["PORT"],
    }
    return make_conninfo(**options, **{key: value for key, value in named.items() if value})


class EdgeStore:
    """The queries of the edges' entry; the pool opens with the first of them."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self._pool: AsyncConnectionPool[AsyncConnection[Row]] | None = None
        self._opening = asyncio.Lock()

    async def close(self) -> None:
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    async def caller(self, token_hash: str, product: str) -> Caller | None:
        """The credential behind a token, when it is live and covers the product."""
        row = await self._one(_CALLER, {"hash": token_hash, "product": product})
        return Caller(row["id"], row["name"], row["product_id"], product) if row else None

    async def served(self, product: str) -> Served | None:
        row = await self._one(_SERVED, {"product": product})
        return Served(row["number"], row["etag"], row["token"].encode()) if row else None

    async def product_of(self, publication_id: int) -> str | None:
        row = await self._one(_PRODUCT_OF, {"id": publication_id})
        return str(row["slug"]) if row else None

    async def register(self, caller: Caller, name: str, kids: list[str]) -> Row | None:
        """The edge of this credential, new or known; None when the name belongs to another one."""
        row = await self._one(_EDGE, {"credential": caller.credential_id})
        if row is not None:
            return row if row["name"] == name else None
        values = {
            "product": caller.product_id,
            "name": name,
            "credential": caller.credential_id,
            "kids": Jsonb(kids),
        }
        return await self._one(_REGISTER, values)

    async def saw(self, edge_id: int) -> None:
        """An edge was heard, whatever it wanted."""
        await self._one(_SAW, {"edge": edge_id})

    async def edge_of(self, caller: Caller) -> Row | None:
        return await self._one(_EDGE, {"credential": caller.credential_id})

    async def report(self, caller: Caller, edge_id: int, report: Report, now: datetime) -> bool:
        """Store what an edge answered; False for a publication this product never had."""
        skew = (now - report.sent_at).total_seconds() * 1000 if report.sent_at else None
        values = {
            "edge": edge_id,
            "product": caller.product_id,
            "number": report.publication,
            "state": report.state,
            "reason": report.reason[:2000],
            "open": Jsonb(report.open_sequences),
            "skew": skew,
        }
        row = await self._one(_REPORT, values)
        return row is not None

    async def _one(self, query: LiteralString, values: Row) -> Row | None:
        pool = await self._opened()
        async with pool.connection() as connection:
            cursor = await connection.execute(query, values)
            return await cursor.fetchone() if cursor.description else None

    async def _opened(self) -> AsyncConnectionPool[AsyncConnection[Row]]:
        async with self._opening:
            if self._pool is None:
                pool: AsyncConnectionPool[AsyncConnection[Row]] = AsyncConnectionPool(
                    self.dsn,
                    min_size=1,
                    max_size=8,
                    timeout=5,
                    open=False,
                    kwargs={"row_factory": dict_row, "autocommit": True},
                )
                await pool.open()
                self._pool = pool
        return self._pool


_CALLER = """
SELECT c.id, c.name, p.id AS product_id
FROM accounts_credential c
JOIN accounts_user u ON u.id = c.owner_id AND u.is_active
JOIN policies_product p ON p.slug = %(product)s
WHERE c.token_hash = %(hash)s AND c.kind = 'edge' AND c.revoked_at IS NULL
  AND (c.expires_at IS NULL OR c.expires_at > now())
  AND c.product_slug = %(product)s
"""
_SERVED = """
SELECT b.number, b.etag, b.token
FROM releases_publication b JOIN policies_product p ON p.id = b.product_id
WHERE p.slug = %(product)s ORDER BY b.number DESC LIMIT 1
"""
_PRODUCT_OF = """
SELECT p.slug FROM releases_publication b JOIN policies_product p ON p.id = b.product_id
WHERE b.id = %(id)s
"""
_EDGE = "SELECT id, name, product_id FROM releases_edge WHERE credential_id = %(credential)s"
# A name whose old credential was revoked passes to the new one: that is how an edge rotates.
_REGISTER = """
INSERT INTO releases_edge (product_id, name, credential_id, share, registered_at, pinned_kids)
VALUES (%(product)s, %(name)s, %(credential)s, 1.0, now(), %(kids)s)
ON CONFLICT (product_id, name) DO UPDATE
  SET credential_id = EXCLUDED.credential_id, pinned_kids = EXCLUDED.pinned_kids
  WHERE EXISTS (SELECT 1 FROM accounts_credential c WHERE c.id = releases_edge.credential_id
                AND (c.revoked_at IS NOT NULL OR c.expires_at <= now()))
RETURNING id, name, product_id
"""
_SAW = """
INSERT INTO releases_edgeseen (edge_id, at, open_sequences) VALUES (%(edge)s, now(), '{}')
ON CONFLICT (edge_id) DO UPDATE SET at = now()
"""
# `active_publication` follows only what the edge says it runs, never what it refused.
_REPORT = """
WITH wanted AS (
  SELECT id, number FROM releases_publication
  WHERE product_id = %(product)s AND number = %(number)s
), seen AS (
  INSERT INTO releases_edgeseen (edge_id, at, active_publication, open_sequences, clock_skew_ms)
  SELECT %(edge)s, now(), CASE WHEN %(state)s = 'active' THEN number END, %(open)s, %(skew)s
  FROM wanted
  ON CONFLICT (edge_id) DO UPDATE SET
    at = now(),
    active_publication =
      COALESCE(EXCLUDED.active_publication, releases_edgeseen.active_publication),
    open_sequences = EXCLUDED.open_sequences,
    clock_skew_ms = EXCLUDED.clock_skew_ms
)
INSERT INTO releases_activation
  (edge_id, publication_id, state, reason, at, reported_at, open_sequences, clock_skew_ms)
SELECT %(edge)s, id, %(state)s, %(reason)s, now(), now(), %(open)s, %(skew)s FROM wanted
ON CONFLICT (edge_id, publication_id, state) DO UPDATE SET
  reported_at = now(), reason = EXCLUDED.reason,
  open_sequences = EXCLUDED.open_sequences, clock_skew_ms = EXCLUDED.clock_skew_ms
RETURNING id
"""
