"""Client logs to calls."""

from datetime import UTC, datetime

from ingest.models import Batch, ClientCall
from ingest.services.partitions import RETENTION
from ingest.services.stored import Stored, lost_pieces
from orchid.formats import client_log
from orchid.formats.client_log import Call
from orchid.formats.reading import UnreadableError


def store(batch: Batch, body: bytes) -> Stored:
    """Store the calls of a client log; a call that is known is not stored again."""
    reading = client_log.read(body)
    if not reading.records and reading.lost:
        raise UnreadableError(f"no call in this file: {reading.lost[0].reason}")
    before = ClientCall.objects.filter(source=batch.source).count()
    ClientCall.objects.bulk_create(
        (_row(batch, call) for call in reading.records), ignore_conflicts=True, batch_size=1000
    )
    inserted = ClientCall.objects.filter(source=batch.source).count() - before
    counts = {
        "calls": len(reading.records),
        "inserted": inserted,
        "duplicates": len(reading.records) - inserted,
        "text_dropped": reading.dropped_text,
    }
    return Stored(counts, lost_pieces(reading.lost))


def _row(batch: Batch, call: Call) -> ClientCall:
    return ClientCall(
        product_id=batch.product_id,
        source_id=batch.source_id,
        batch=batch,
        request_id=_name(call.request_id),
        model=_name(call.model),
        protocol=_name(call.protocol)[:16],
        outcome=call.outcome,
        failure=call.failure,
        sent_at=datetime.fromtimestamp(call.sent_ns / 1e9, UTC),
        sent_steady_ns=call.sent_steady_ns,
        elapsed_ms=_ms(call.elapsed_ns),
        first_response_ms=_ms(call.first_response_ns),
        input_tokens=call.input_tokens,
        output_tokens=call.output_tokens,
    )


def _name(written: str) -> str:
    """PostgreSQL stores no NUL."""
    return written.replace("\x00", "")[:256]


def _ms(nanoseconds: int | None) -> float | None:
    return None if nanoseconds is None else nanoseconds / 1e6


#: A tick deletes so many; the next one goes on.
ROUND = 20_000


def forget_old_calls(now: datetime) -> int:
    """Drop calls past the retention of the requests that they are joined to; how many."""
    over = ClientCall.objects.filter(sent_at__lt=now - RETENTION).order_by("pk")
    keys = list(over.values_list("pk", flat=True)[:ROUND])
    gone, _ = ClientCall.objects.filter(pk__in=keys).delete()
    return gone
