"""What the edges' entry reads and writes: plain SQL over an asynchronous pool, no ORM."""

import asyncio
import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, LiteralString

import msgspec
from django.conf import settings
from msgspec import Meta
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg.errors import UniqueViolation
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb
from psycopg_pool import AsyncConnectionPool

from orchid.engine.wire.fields import Instant

Row = dict[str, Any]
WAIT_S = 5.0  # for a connection


@dataclass(frozen=True)
class Caller:
    """A live edge credential, the product it stands for, and its edge once it is registered."""

    credential_id: int
    name: str
    product_id: int
    product: str
    expires_at: datetime | None = None
    edge_id: int | None = None
    edge: str = ""


@dataclass(frozen=True)
class Served:
    """The signed bytes of a product's newest publication."""

    publication: int
    etag: str
    token: bytes

    @cached_property
    def event(self) -> bytes:
        """As a server-sent event. A compact JWS holds no line break, so it is one line of data."""
        return b"id: %d\nevent: bundle\ndata: %s\n\n" % (self.publication, self.token)


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
    open_manifests: dict[Text, dict[Text, Number]] = {}
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

    async def callers(self, shown: list[str]) -> dict[str, Caller]:
        """The live credentials behind hashes of tokens or marks of certificates."""
        rows = await self._all(_CALLERS, {"shown": shown})
        return {row.pop("shown"): Caller(**row) for row in rows}

    async def live_of(self, credentials: Iterable[int]) -> set[int]:
        """Which of these credentials are still live."""
        rows = await self._all(_LIVE, {"ids": list(credentials)})
        return {row["id"] for row in rows}

    async def served(self, product: str) -> Served | None:
        row = await self.one(_SERVED, {"product": product})
        return Served(row["number"], row["etag"], row["token"].encode()) if row else None

    async def product_of(self, publication_id: int) -> str | None:
        row = await self.one(_PRODUCT_OF, {"id": publication_id})
        return str(row["slug"]) if row else None

    async def register(self, caller: Caller, name: str, kids: list[str]) -> Row | None:
        """The edge of this credential, new or known; None when the name belongs to another one.

        Of two first requests at once the second finds what the first has made.
        """
        of_credential = {"credential": caller.credential_id}
        made = {"product": caller.product_id, "name": name, "kids": Jsonb(kids), **of_credential}
        row = await self.one(_EDGE, of_credential)
        if row is None:
            with contextlib.suppress(UniqueViolation):  # under another name, at this moment
                row = await self.one(_REGISTER, made)
            row = row or await self.one(_EDGE, of_credential)
        return row if row and row["name"] == name else None

    async def saw(self, rows: list[Row]) -> None:
        """Edges were heard, each so many seconds ago; and what they were handed meanwhile."""
        if rows:
            await self._all(_SAW, {"rows": Jsonb(rows)})

    async def report(self, rows: list[Row]) -> set[int]:
        """Store what edges answered, one row an edge; the edges whose publication there was."""
        return {row["edge_id"] for row in await self._all(_REPORT, {"rows": Jsonb(rows)})}

    async def one(self, query: LiteralString, values: Row) -> Row | None:
        """The first row of a statement; None where it has none."""
        found = await self._all(query, values)
        return found[0] if found else None

    async def _all(self, query: LiteralString, values: Row) -> list[Row]:
        pool = await self._opened()
        async with pool.connection() as connection:
            cursor = await connection.execute(query, values)
            return await cursor.fetchall() if cursor.description else []

    async def _opened(self) -> AsyncConnectionPool[AsyncConnection[Row]]:
        async with self._opening:
            if self._pool is None:
                pool: AsyncConnectionPool[AsyncConnection[Row]] = AsyncConnectionPool(
                    self.dsn,
                    min_size=1,
                    max_size=8,
                    timeout=WAIT_S,
                    # Its own pauses grow to minutes, long after the server is back.
                    reconnect_timeout=5,
                    check=AsyncConnectionPool.check_connection,
                    open=False,
                    kwargs={"row_factory": dict_row, "autocommit": True},
                )
                await pool.open()
                self._pool = pool
        return self._pool


_CALLERS = """
SELECT c.token_hash AS shown, c.id AS credential_id, c.name, c.expires_at,
       p.id AS product_id, p.slug AS product, e.id AS edge_id, coalesce(e.name, '') AS edge
FROM accounts_credential c
JOIN accounts_user u ON u.id = c.owner_id AND u.is_active
JOIN policies_product p ON p.slug = c.product_slug
LEFT JOIN releases_edge e ON e.credential_id = c.id OR e.former_credential_id = c.id
WHERE c.token_hash = ANY(%(shown)s) AND c.kind = 'edge' AND c.revoked_at IS NULL
  AND (c.expires_at IS NULL OR c.expires_at > now())
"""
_LIVE = """
SELECT c.id FROM accounts_credential c JOIN accounts_user u ON u.id = c.owner_id AND u.is_active
WHERE c.id = ANY(%(ids)s) AND c.revoked_at IS NULL
  AND (c.expires_at IS NULL OR c.expires_at > now())
"""
_SERVED = """
SELECT b.number, b.etag, b.token
FROM releases_publication b JOIN policies_product p ON p.id = b.product_id
WHERE p.slug = %(product)s ORDER BY b.number DESC LIMIT 1
"""
#: Asked on the listening connection itself, so that a dead one is found.
NEWEST = """
SELECT p.slug, b.number, b.etag FROM policies_product p
CROSS JOIN LATERAL (
  SELECT number, etag FROM releases_publication WHERE product_id = p.id
  ORDER BY number DESC LIMIT 1
) b WHERE p.slug = ANY(%(slugs)s)
"""
_PRODUCT_OF = """
SELECT p.slug FROM releases_publication b JOIN policies_product p ON p.id = b.product_id
WHERE b.id = %(id)s
"""
_EDGE = """
SELECT id, name, product_id FROM releases_edge
WHERE credential_id = %(credential)s OR former_credential_id = %(credential)s
"""
# A name whose old credential was revoked passes to the new one; an edge that was retired is back.
# So it does where the old one was replaced and the edge came with it only afterwards.
_REGISTER = """
INSERT INTO releases_edge (product_id, name, credential_id, share, registered_at, pinned_kids)
VALUES (%(product)s, %(name)s, %(credential)s, 1.0, now(), %(kids)s)
ON CONFLICT (product_id, name) DO UPDATE
  SET credential_id = EXCLUDED.credential_id, pinned_kids = EXCLUDED.pinned_kids,
      former_credential_id = (
        SELECT c.id FROM accounts_credential c WHERE c.id = releases_edge.credential_id
        AND c.revoked_at IS NULL AND c.expires_at > now()),
      retired_at = NULL
  WHERE EXISTS (SELECT 1 FROM accounts_credential c WHERE c.id = releases_edge.credential_id
                AND (c.revoked_at IS NOT NULL OR c.expires_at <= now()
                     OR c.superseded_at IS NOT NULL AND c.name = (
                       SELECT n.name FROM accounts_credential n WHERE n.id = %(credential)s)))
RETURNING id, name, product_id
"""
_SAW = """
INSERT INTO releases_edgeseen (edge_id, at, open_sequences, downloaded_publication)
SELECT s.edge, now() - s.ago * interval '1 second', '{}', s.downloaded
FROM jsonb_to_recordset(%(rows)s) AS s(edge bigint, ago float8, downloaded int)
ON CONFLICT (edge_id) DO UPDATE SET
  at = GREATEST(releases_edgeseen.at, EXCLUDED.at),
  downloaded_publication =
    GREATEST(releases_edgeseen.downloaded_publication, EXCLUDED.downloaded_publication)
"""
# `active_publication` follows only what the edge says it runs, never what it refused. Whatever it
# answered to, it had downloaded.
_REPORT = """
WITH said AS (
  SELECT s.*, b.id AS publication_id
  FROM jsonb_to_recordset(%(rows)s)
    AS s(edge bigint, product bigint, number int, state text, reason text, open jsonb,
         manifests jsonb, skew float8)
  JOIN releases_publication b ON b.product_id = s.product AND b.number = s.number
), seen AS (
  INSERT INTO releases_edgeseen (
    edge_id, at, reported_at, active_publication, downloaded_publication, open_sequences,
    open_manifests, clock_skew_ms
  )
  SELECT edge, now(), now(), CASE WHEN state = 'active' THEN number END, number, open, manifests,
    skew
  FROM said
  ORDER BY edge
  ON CONFLICT (edge_id) DO UPDATE SET
    at = now(),
    reported_at = now(),
    active_publication =
      COALESCE(EXCLUDED.active_publication, releases_edgeseen.active_publication),
    downloaded_publication =
      GREATEST(releases_edgeseen.downloaded_publication, EXCLUDED.downloaded_publication),
    open_sequences = EXCLUDED.open_sequences,
    open_manifests = EXCLUDED.open_manifests,
    clock_skew_ms = EXCLUDED.clock_skew_ms
)
INSERT INTO releases_activation
  (edge_id, publication_id, state, reason, at, reported_at, open_sequences, clock_skew_ms)
SELECT edge, publication_id, state, reason, now(), now(), open, skew FROM said
ORDER BY edge
ON CONFLICT (edge_id, publication_id, state) DO UPDATE SET
  reported_at = now(), reason = EXCLUDED.reason,
  open_sequences = EXCLUDED.open_sequences, clock_skew_ms = EXCLUDED.clock_skew_ms
RETURNING edge_id
"""
