"""Adds what was stored to its source's tally, in the transaction that stores it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from ingest.models import Batch, Source, SourceTally
from ingest.services.stored import RejectedPiece, Stored

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
    pieces: Iterable[RejectedPiece] = ()
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


def add(source_pk: int, tally: Tally, now: datetime | None = None) -> None:
    """Add to the source's row, under its lock: call it last in the transaction."""
    at = now or timezone.now()
    Source.objects.select_for_update(no_key=True).only("pk").get(pk=source_pk)
    row, _ = SourceTally.objects.get_or_create(source_id=source_pk)
    row.batches += tally.batches
    row.stored += tally.stored
    row.repeated += tally.repeated
    row.rejected += tally.rejected
    row.dropped_text += tally.dropped_text
    row.reasons = _reasons(row.reasons, tally, at)
    row.recent = _recent(row.recent, tally.stored, at)
    row.lag_ms = (at - (tally.received_at or at)) / timedelta(milliseconds=1)
    row.counted_at = at
    row.save()


def minute_of(at: datetime) -> int:
    """Whole minutes since 1970, the key of `recent`."""
    return int(at.timestamp()) // 60


def _recent(recent: dict[str, int], stored: int, at: datetime) -> dict[str, int]:
    oldest, this = minute_of(at) - KEPT_MINUTES, str(minute_of(at))
    kept = {minute: count for minute, count in recent.items() if int(minute) > oldest}
    return kept | {this: kept.get(this, 0) + stored}


def _reasons(known: dict[str, Any], tally: Tally, at: datetime) -> dict[str, Any]:
    reasons = dict(known)
    for piece in tally.pieces:
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
