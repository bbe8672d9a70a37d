"""The edge's journal: what was promised and not ended, and records that nobody acknowledged yet.

Open attempts, requests that rest between two attempts, deferred work, ids that are used up: each is
on disk before its client is answered. A record leaves when the control plane has acknowledged it,
so a killed edge loses none. SQLite in WAL mode with full sync; writes that come together are
committed together, so many requests share one wait for the disk.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from orchid.edge import tables
from orchid.edge.tables import Batch, DeferredRow, Ending, OpenRow, RestingRow, SpoolState


class JournalError(Exception):
    """The journal could not be written: its disk is full or gone. Nothing was promised."""


Write = Callable[[sqlite3.Connection], object]
T = TypeVar("T")

SPOOL_LIMIT = 200_000


class Journal:
    """All access runs on one thread of its own, so the event loop never waits for the disk."""

    def __init__(self, path: Path, limit: int = SPOOL_LIMIT) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._limit = limit
        self._thread = ThreadPoolExecutor(1, "journal")
        self._pending: list[tuple[Write, asyncio.Future[None]]] = []
        self._flushing: asyncio.Task[None] | None = None
        self._db = self._thread.submit(_opened, path).result()

    async def opened(self, row: OpenRow, request_id: str, continues: str | None) -> None:
        """Remember an admitted attempt."""
        await self._write(lambda db: tables.open_attempt(db, row, request_id, continues))

    async def rested(self, attempt_id: str, row: RestingRow) -> None:
        """Turn an open attempt into a request that waits for its client's next try."""
        await self._write(lambda db: tables.rest(db, attempt_id, row))

    async def ended(self, ending: Ending) -> None:
        """Turn a request, open or never admitted, into a record to send."""
        await self._write(lambda db: tables.end(db, ending))

    async def forget(self, ended_before_ms: float, over_before_ms: float) -> None:
        """Drop ids that ended, and deferred work that was over, before a moment each."""
        await self._write(lambda db: tables.forget(db, ended_before_ms, over_before_ms))

    async def open_rows(self) -> list[OpenRow]:
        rows = await self._read("SELECT attempt_id, expires_ms, record FROM open")
        return [OpenRow(*row) for row in rows]

    async def resting_rows(self) -> list[RestingRow]:
        rows = await self._read("SELECT request_id, expires_ms, record FROM resting")
        return [RestingRow(*row) for row in rows]

    async def deferred_rows(self) -> list[DeferredRow]:
        rows = await self._read(
            "SELECT id, tenant, class, first_arrived_ms, until_ms, run FROM deferred"
        )
        return [DeferredRow(*row) for row in rows]

    async def ended_ids(self) -> list[tuple[str, float]]:
        """Ids that are used up, the first that ended first."""
        return await self._read("SELECT request_id, at_ms FROM ended ORDER BY at_ms")

    async def state(self) -> SpoolState:
        rows = await self._read(
            "SELECT (SELECT count(*) FROM spool), (SELECT min(arrived_ms) FROM spool),"
            " (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'spool'),"
            " (SELECT value FROM figure WHERE name = 'lost')"
        )
        return SpoolState(*rows[0])

    async def batch(self, new_id: str, size: int) -> Batch | None:
        """The batch that is under way, else a new one of the oldest records; None without any."""
        return await self._run(lambda db: tables.begin_batch(db, new_id, size))

    async def earliest_after(self, seq: int) -> float | None:
        """The earliest arrival among records behind a batch."""
        rows = await self._read(f"SELECT min(arrived_ms) FROM spool WHERE seq > {int(seq)}")  # noqa: S608 (an integer)
        return None if rows[0][0] is None else float(rows[0][0])

    async def acknowledged(self, batch: Batch, *, lost: int = 0) -> None:
        """Forget a delivered batch; `lost` counts records that the receiver will never take."""
        await self._write(lambda db: tables.acknowledge(db, batch, lost))

    async def close(self) -> None:
        if self._flushing is not None:
            await self._flushing
        await asyncio.get_running_loop().run_in_executor(self._thread, self._db.close)
        self._thread.shutdown()

    async def _write(self, write: Write) -> None:
        """Wait until the write is on disk, together with all that came while the disk was busy."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending.append((write, done))
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush())
        await done

    async def _flush(self) -> None:
        while self._pending:
            together, self._pending = self._pending, []
            writes = [write for write, _ in together]
            try:
                await self._run(partial(self._commit, writes=writes))
            except sqlite3.Error as error:
                _finish(together, JournalError(str(error)))
            else:
                _finish(together, None)

    def _commit(self, db: sqlite3.Connection, writes: list[Write]) -> None:
        with db:
            for write in writes:
                write(db)
            tables.keep_bounded(db, self._limit)

    async def _read(self, query: str) -> list[Any]:
        return await self._run(lambda db: db.execute(query).fetchall())

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._db)


def _opened(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    with db:
        db.executescript(tables.TABLES)
    return db


def _finish(writes: list[tuple[Write, asyncio.Future[None]]], error: Exception | None) -> None:
    for _, done in writes:
        if done.cancelled():
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)
