"""Adds what was stored to its source's tally, in the transaction that stores it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from ingest.models import Batch, SourceTally
from ingest.services.stored import RejectedPiece, Stored, storable

#: Minutes that a rate is taken over, and one that is still running.
KEPT_MINUTES = 7
#: Codes that are told apart; what a sender invents beyond them is counted as `other`.
KEPT_CODES = 20
OTHER = "other"
_STORED = ("inserted", "figures")
_DROPPED = ("tensors_dropped", "texts_dropped", "dropped_text")


@dataclass(frozen=True)
class Tally:
    """What one delivery came to; `pieces` are its refused lines or fragments, all or the first."""

    stored: int = 0
    repeated: int = 0
    rejected: int = 0
    dropped_text: int = 0
    pieces: Sequence[RejectedPiece] = ()
    batch: int | None = None
    received_at: datetime | None = None
    batches: int = 0


def add_batch(batch: Batch, stored: Stored, now: datetime | None = None) -> None:
    """The tally of a batch that is counted, with the numbers that its records had."""
    counts = stored.counts
    tally = Tally(
        stored=sum(counts.get(name, 0) for name in _STORED),
        repeated=counts.get("duplicates", 0),
        rejected=len(stored.rejected),
        dropped_text=sum(counts.get(name, 0) for name in _DROPPED),
        pieces=stored.rejected,
        batch=batch.pk,
        received_at=batch.received_at,
        batches=1,
    )
    add(batch.source_id, tally, now)
    _add_sequence(batch)


# One statement and one round trip, since the sender of spans waits for it. The source is locked
# first, as whatever else is stored of it does; what the row holds by minute is cut and added to.
_ADD = """
WITH source AS (
    SELECT id FROM ingest_source WHERE id = %(source)s FOR NO KEY UPDATE
)
INSERT INTO ingest_sourcetally AS tally (
    source_id, batches, stored, repeated, rejected, dropped_text, reasons, recent, lag_ms,
    counted_at
)
SELECT id, %(batches)s, %(stored)s, %(repeated)s, %(rejected)s, %(dropped_text)s, '{}',
       jsonb_build_object(%(minute)s::text, %(stored)s), %(lag_ms)s, %(at)s
FROM source
ON CONFLICT (source_id) DO UPDATE SET
    batches = tally.batches + excluded.batches,
    stored = tally.stored + excluded.stored,
    repeated = tally.repeated + excluded.repeated,
    rejected = tally.rejected + excluded.rejected,
    dropped_text = tally.dropped_text + excluded.dropped_text,
    recent = (
        SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(tally.recent)
        WHERE key::bigint > %(oldest)s
    ) || jsonb_build_object(
        %(minute)s::text, coalesce((tally.recent ->> %(minute)s::text)::bigint, 0) + %(stored)s
    ),
    lag_ms = excluded.lag_ms,
    counted_at = excluded.counted_at
"""


def add(source_pk: int, tally: Tally, now: datetime | None = None) -> None:
    """Add to the source's row, under its lock: call it last in the transaction."""
    at = now or timezone.now()
    minute = minute_of(at)
    values: dict[str, Any] = {
        "source": source_pk,
        "batches": tally.batches,
        "stored": tally.stored,
        "repeated": tally.repeated,
        "rejected": tally.rejected,
        "dropped_text": tally.dropped_text,
        "minute": str(minute),
        "oldest": minute - KEPT_MINUTES,
        "lag_ms": (at - (tally.received_at or at)) / timedelta(milliseconds=1),
        "at": at,
    }
    with connection.cursor() as cursor:
        cursor.execute(_ADD, values)
    if tally.pieces:
        row = SourceTally.objects.only("reasons").get(source_id=source_pk)
        row.reasons = _reasons(row.reasons, tally, at)
        row.save(update_fields=["reasons"])


def minute_of(at: datetime) -> int:
    """Whole minutes since 1970, the key of `recent`."""
    return int(at.timestamp()) // 60


def _reasons(known: dict[str, Any], tally: Tally, at: datetime) -> dict[str, Any]:
    reasons = dict(known)
    for piece in map(storable, tally.pieces):
        code = piece.get("code", OTHER)
        if code not in reasons and len(reasons) >= KEPT_CODES:
            code = OTHER
        counted = reasons[code]["count"] if code in reasons else 0
        reasons[code] = {
            "count": counted + 1,
            "where": where_of(piece),
            "message": piece.get("message", "")[:300],
            "batch": tally.batch,
            "at": at.isoformat(),
        }
    return reasons


def where_of(piece: RejectedPiece) -> str:
    """`line 3`, `byte 512`, or nothing where the piece has no place."""
    if "line" in piece:
        return f"line {piece['line']}"
    return f"byte {piece['offset']}" if "offset" in piece else ""


_SEQUENCE = """
INSERT INTO ingest_sourceboot (source_id, boot_id, first_seq, last_seq, arrived)
VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (source_id, boot_id) DO UPDATE SET
    first_seq = least(ingest_sourceboot.first_seq, excluded.first_seq),
    last_seq = greatest(ingest_sourceboot.last_seq, excluded.last_seq),
    arrived = ingest_sourceboot.arrived + excluded.arrived
"""


def _add_sequence(batch: Batch) -> None:
    first, last = batch.first_seq, batch.last_seq
    if first is None or last is None:
        return
    with connection.cursor() as cursor:
        cursor.execute(_SEQUENCE, [batch.source_id, batch.boot_id, first, last, last - first + 1])
