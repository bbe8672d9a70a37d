"""What the journal holds, and each of its writes as one statement or a few in one transaction."""

import sqlite3
from dataclasses import dataclass, replace
from typing import Self

TABLES = """
CREATE TABLE IF NOT EXISTS open (attempt_id TEXT PRIMARY KEY, expires_ms REAL, record BLOB);
CREATE TABLE IF NOT EXISTS resting (request_id TEXT PRIMARY KEY, expires_ms REAL, record BLOB);
CREATE TABLE IF NOT EXISTS deferred
  (id TEXT PRIMARY KEY, tenant TEXT, class TEXT, first_arrived_ms REAL, until_ms REAL, run TEXT);
CREATE TABLE IF NOT EXISTS ended (request_id TEXT PRIMARY KEY, at_ms REAL);
CREATE INDEX IF NOT EXISTS ended_at ON ended (at_ms);
CREATE TABLE IF NOT EXISTS spool
  (seq INTEGER PRIMARY KEY AUTOINCREMENT, arrived_ms REAL, line BLOB);
CREATE TABLE IF NOT EXISTS batch (batch_id TEXT PRIMARY KEY, first_seq INTEGER, last_seq INTEGER);
CREATE TABLE IF NOT EXISTS figure (name TEXT PRIMARY KEY, value INTEGER);
INSERT OR IGNORE INTO figure VALUES ('lost', 0);
"""


@dataclass(frozen=True, slots=True)
class OpenRow:
    """An attempt admitted before a restart, and the record it becomes if nobody settles."""

    attempt_id: str
    expires_ms: float
    record: bytes


@dataclass(frozen=True, slots=True)
class RestingRow:
    """A request between two attempts, and the record it becomes if its client stays away."""

    request_id: str
    expires_ms: float
    record: bytes


@dataclass(frozen=True, slots=True)
class DeferredRow:
    """Work that was put off: what a later run is measured from, and the run that took it up."""

    id: str
    tenant: str
    class_: str
    first_arrived_ms: float
    until_ms: float
    run: str | None = None

    def taken_up(self, run: str) -> Self:
        return replace(self, run=run)


@dataclass(frozen=True, slots=True)
class Ending:
    """A request's last word: its record, and what else ends or begins with it."""

    request_id: str
    at_ms: float
    arrived_ms: float
    line: bytes
    attempt_id: str | None = None
    deferred: DeferredRow | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Records under one id, sent again under the same id until they are acknowledged."""

    batch_id: str
    first_seq: int
    last_seq: int
    lines: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class SpoolState:
    """Records that wait, the earliest arrival among them, the last number, the lost ones."""

    waiting: int
    earliest_arrival_ms: float | None
    last_seq: int
    lost: int


def open_attempt(
    db: sqlite3.Connection, row: OpenRow, request_id: str, continues: str | None
) -> None:
    """An attempt begins: its request rests no more, and deferred work has found its run."""
    db.execute("INSERT INTO open VALUES (?, ?, ?)", (row.attempt_id, row.expires_ms, row.record))
    db.execute("DELETE FROM resting WHERE request_id = ?", (request_id,))
    if continues is not None:
        db.execute("UPDATE deferred SET run = ? WHERE id = ?", (request_id, continues))


def rest(db: sqlite3.Connection, attempt_id: str, row: RestingRow) -> None:
    """An attempt ended and its request stays open for another."""
    db.execute("DELETE FROM open WHERE attempt_id = ?", (attempt_id,))
    values = (row.request_id, row.expires_ms, row.record)
    db.execute("INSERT OR REPLACE INTO resting VALUES (?, ?, ?)", values)


def end(db: sqlite3.Connection, ending: Ending) -> None:
    """A request is over: its record waits to be sent, and its id is never used again."""
    db.execute("DELETE FROM open WHERE attempt_id = ?", (ending.attempt_id,))
    db.execute("DELETE FROM resting WHERE request_id = ?", (ending.request_id,))
    spooled = (ending.arrived_ms, ending.line)
    db.execute("INSERT INTO spool (arrived_ms, line) VALUES (?, ?)", spooled)
    ended = (ending.request_id, ending.at_ms)
    db.execute("INSERT OR REPLACE INTO ended VALUES (?, ?)", ended)
    if ending.deferred is not None:
        row = ending.deferred
        whose = (row.id, row.tenant, row.class_)
        values = (*whose, row.first_arrived_ms, row.until_ms, row.run)
        db.execute("INSERT OR REPLACE INTO deferred VALUES (?, ?, ?, ?, ?, ?)", values)


def forget(db: sqlite3.Connection, ended_before_ms: float, over_before_ms: float) -> None:
    """Drop ids that ended before a moment, and deferred work that was over before one."""
    db.execute("DELETE FROM ended WHERE at_ms < ?", (ended_before_ms,))
    db.execute("DELETE FROM deferred WHERE until_ms < ?", (over_before_ms,))


def acknowledge(db: sqlite3.Connection, batch: Batch, lost: int) -> None:
    db.execute("DELETE FROM spool WHERE seq <= ?", (batch.last_seq,))
    db.execute("DELETE FROM batch")
    db.execute("UPDATE figure SET value = value + ? WHERE name = 'lost'", (lost,))


def keep_bounded(db: sqlite3.Connection, limit: int) -> None:
    """Over the limit the oldest records go, and are counted: a full disk would lose the newest.

    Numbers are given in order and records leave from the front, so two look-ups count them.
    """
    first, last = db.execute(
        "SELECT (SELECT min(seq) FROM spool), (SELECT max(seq) FROM spool)"
    ).fetchone()
    if first is None or last - first < limit:
        return
    gone = db.execute("DELETE FROM spool WHERE seq <= ?", (last - limit,)).rowcount
    db.execute("UPDATE figure SET value = value + ? WHERE name = 'lost'", (gone,))


def begin_batch(db: sqlite3.Connection, new_id: str, size: int) -> Batch | None:
    """The batch that is under way, else a new one of the oldest records; None without any."""
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
