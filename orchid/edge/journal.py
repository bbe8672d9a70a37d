"""The edge's journal: attempts that are open, records that are not acknowledged yet.

A record is in the journal before its client is answered, and leaves it when the control plane has
acknowledged it, so a killed edge loses neither. SQLite in WAL mode with full sync; writes that come
together are committed together, so many requests share one wait for the disk.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar


class JournalError(Exception):
    """The journal could not be written: its disk is full or gone. Nothing was promised."""


Write = Callable[[sqlite3.Connection], object]
T = TypeVar("T")

SPOOL_LIMIT = 200_000
_TABLES = """
CREATE TABLE IF NOT EXISTS open (attempt_id TEXT PRIMARY KEY, expires_ms REAL, record BLOB);
CREATE TABLE IF NOT EXISTS spool
  (seq INTEGER PRIMARY KEY AUTOINCREMENT, arrived_ms REAL, line BLOB);
CREATE TABLE IF NOT EXISTS batch (batch_id TEXT PRIMARY KEY, first_seq INTEGER, last_seq INTEGER);
CREATE TABLE IF NOT EXISTS figure (name TEXT PRIMARY KEY, value INTEGER);
INSERT OR IGNORE INTO figure VALUES ('lost', 0);
"""


@dataclass(frozen=True, slots=True)
class Batch:
    """Records under one id, sent again under the same id until they are acknowledged."""

    batch_id: str
    first_seq: int
    last_seq: int
    lines: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class OpenRow:
    """An attempt admitted before a restart, and the record it becomes if nobody settles."""

    attempt_id: str
    expires_ms: float
    record: bytes


@dataclass(frozen=True, slots=True)
class SpoolState:
    """Records that wait, the earliest arrival among them, the last number, the lost ones."""

    waiting: int
    earliest_arrival_ms: float | None
    last_seq: int
    lost: int


class Journal:
    """All access runs on one thread of its own, so the event loop never waits for the disk."""

    def __init__(self, path: Path, limit: int = SPOOL_LIMIT) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._limit = limit
        self._thread = ThreadPoolExecutor(1, "journal")
        self._pending: list[tuple[Write, asyncio.Future[None]]] = []
        self._flushing: asyncio.Task[None] | None = None
        self._db = self._thread.submit(_opened, path).result()

    async def opened(self, attempt_id: str, expires_ms: float, record: bytes) -> None:
        """Remember an admitted attempt."""
        await self._write(
            lambda db: db.execute(
                "INSERT INTO open VALUES (?, ?, ?)", (attempt_id, expires_ms, record)
            )
        )

    async def ended(self, attempt_id: str | None, arrived_ms: float, line: bytes) -> None:
        """Turn an open attempt, or a refusal that had none, into a record to send."""

        def write(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM open WHERE attempt_id = ?", (attempt_id,))
            db.execute("INSERT INTO spool (arrived_ms, line) VALUES (?, ?)", (arrived_ms, line))

        await self._write(write)

    async def open_rows(self) -> list[OpenRow]:
        rows = await self._read("SELECT attempt_id, expires_ms, record FROM open")
        return [OpenRow(*row) for row in rows]

    async def state(self) -> SpoolState:
        rows = await self._read(
            "SELECT (SELECT count(*) FROM spool), (SELECT min(arrived_ms) FROM spool),"
            " (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'spool'),"
            " (SELECT value FROM figure WHERE name = 'lost')"
        )
        return SpoolState(*rows[0])

    async def batch(self, new_id: str, size: int) -> Batch | None:
        """The batch that is under way, else a new one of the oldest records; None without any."""
        return await self._run(lambda db: _batch(db, new_id, size))

    async def earliest_after(self, seq: int) -> float | None:
        """The earliest arrival among records behind a batch."""
        rows = await self._read(f"SELECT min(arrived_ms) FROM spool WHERE seq > {int(seq)}")  # noqa: S608 (an integer)
        return None if rows[0][0] is None else float(rows[0][0])

    async def acknowledged(self, batch: Batch, *, lost: int = 0) -> None:
        """Forget a delivered batch; `lost` counts records that the receiver will never take."""

        def write(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM spool WHERE seq <= ?", (batch.last_seq,))
            db.execute("DELETE FROM batch")
            db.execute("UPDATE figure SET value = value + ? WHERE name = 'lost'", (lost,))

        await self._write(write)

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
            _keep_bounded(db, self._limit)

    async def _read(self, query: str) -> list[Any]:
        return await self._run(lambda db: db.execute(query).fetchall())

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._db)


def _opened(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    with db:
        db.executescript(_TABLES)
    return db


def _finish(writes: list[tuple[Write, asyncio.Future[None]]], error: Exception | None) -> None:
    for _, done in writes:
        if done.cancelled():
            continue
        if error is None:
            done.set_result(None)
        else:
            done.set_exception(error)


def _keep_bounded(db: sqlite3.Connection, limit: int) -> None:
    """Over the limit the oldest records go, and are counted: a full disk would lose the newest."""
    (count,) = db.execute("SELECT count(*) FROM spool").fetchone()
    if count <= limit:
        return
    oldest = "SELECT seq FROM spool ORDER BY seq LIMIT ?"
    db.execute(f"DELETE FROM spool WHERE seq IN ({oldest})", (count - limit,))  # noqa: S608 (a constant)
    db.execute("UPDATE figure SET value = value + ? WHERE name = 'lost'", (count - limit,))


def _batch(db: sqlite3.Connection, new_id: str, size: int) -> Batch | None:
    under_way = db.execute("SELECT batch_id, first_seq, last_seq FROM batch").fetchone()
    if under_way is None:
        seqs = db.execute("SELECT seq FROM spool ORDER BY seq LIMIT ?", (size,)).fetchall()
        if not seqs:
            return None
        under_way = (new_id, seqs[0][0], seqs[-1][0])
        with db:
            db.execute("INSERT INTO batch VALUES (?, ?, ?)", under_way)
    rows = db.execute(
        "SELECT line FROM spool WHERE seq BETWEEN ? AND ? ORDER BY seq", under_way[1:]
    ).fetchall()
    batch_id, first_seq, last_seq = under_way
    return Batch(batch_id, first_seq, last_seq, tuple(line for (line,) in rows))
