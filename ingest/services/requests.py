"""Request records of an edge to rows, and what they add to the rollups."""

from collections.abc import Mapping
from datetime import UTC, date
from typing import Any

import msgspec
from django.db import connection
from django.utils import timezone
from psycopg.types.json import Jsonb

from ingest.models import Batch
from ingest.services.copying import copy_new
from ingest.services.partitions import ensure_days, is_kept
from ingest.services.rollups import Counted, append_deltas, tallied
from ingest.services.stored import RejectedPiece, Stored
from orchid.engine import outcome
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import segment_key
from orchid.engine.wire.records import RequestRecord, parse_ndjson
from policies.models import Product, Revision
from policies.selectors import document_of

COLUMNS = (
    "day",
    "product_id",
    "request_id",
    "batch_id",
    "arrived_at",
    "publication",
    "digest",
    "cohort",
    "tenant",
    "tenant_class",
    "class_name",
    "dims",
    "dims_key",
    "action",
    "route",
    "reason",
    "manifest",
    "outcome",
    "policy_valid",
    "schema_valid",
    "deadline_ms",
    "admission_ms",
    "first_token_ms",
    "completion_ms",
    "input_tokens",
    "max_output_tokens",
    "output_tokens",
    "teu",
    "cost_usd",
    "populations",
    "attempt_ids",
    "decision",
    "attempts",
)
_IDENTITY = ("product_id", "request_id", "day")


def store(batch: Batch, body: bytes) -> Stored:
    """Store what is new of an NDJSON body; each refused line is named and loses no neighbour."""
    parsed = parse_ndjson(body)
    rejected = [_of_parser(piece) for piece in parsed.rejected]
    documents = _documents(batch.product, {record.digest or "" for _, record in parsed.records})
    sound: list[Counted] = []
    for line, record in parsed.records:
        if refusal := _refusal(record, batch.product, documents):
            rejected.append(RejectedPiece(line=line, **refusal))
        else:
            sound.append(Counted(record, documents[record.digest or ""]))
    inserted = _insert(batch, sound)
    append_deltas(batch.product, batch, *tallied(batch.product, inserted))
    counts = {"records": len(sound), "inserted": len(inserted)}
    counts["duplicates"] = len(sound) - len(inserted)
    return Stored(counts, sorted(rejected, key=lambda piece: piece["line"]))


def _of_parser(piece: Any) -> RejectedPiece:
    return RejectedPiece(line=piece.line, code=piece.code, field=piece.field, message=piece.message)


def _documents(product: Product, digests: set[str]) -> dict[str, PolicyDocument]:
    known = Revision.objects.filter(generation__product=product, digest__in=digests)
    return {digest: document_of(digest) for digest in set(known.values_list("digest", flat=True))}


def _refusal(
    record: RequestRecord, product: Product, documents: Mapping[str, PolicyDocument]
) -> RejectedPiece | None:
    if record.product != product.slug:
        return RejectedPiece(
            code="other_product", field="product", message=f"This credential is for {product.slug}."
        )
    if record.digest is None:
        return RejectedPiece(
            code="no_generation",
            field="digest",
            message="It was decided under no generation, so no contract says what it counts as.",
        )
    if record.digest not in documents:
        return RejectedPiece(
            code="unknown_digest",
            field="digest",
            message="No generation of this product has that digest.",
        )
    if not is_kept(record.arrived_at, timezone.now()):
        return RejectedPiece(
            code="bad_time",
            field="arrived_at",
            message="The arrival is in the future or past what is kept.",
        )
    return None


def _insert(batch: Batch, sound: list[Counted]) -> list[Counted]:
    """The records that were not stored before, in this batch or in another."""
    by_identity = {
        (batch.product_id, one.record.request_id, _day(one.record)): one
        for one in reversed(sound)  # of two with one identity the first counts
    }
    ensure_days(day for _, _, day in by_identity)
    rows = [_row(batch, one) for one in by_identity.values()]
    with connection.cursor() as cursor:
        new = copy_new(cursor, "ingest_request", COLUMNS, _IDENTITY, rows)
    return [by_identity[identity] for identity in new]


def _day(record: RequestRecord) -> date:
    return record.arrived_at.astimezone(UTC).date()


def _row(batch: Batch, one: Counted) -> tuple[Any, ...]:
    record, document = one.record, one.document
    decision = record.decision
    return (
        _day(record),
        batch.product_id,
        record.request_id,
        batch.pk,
        record.arrived_at,
        record.publication,
        record.digest,
        record.cohort,
        record.tenant or "",
        record.tenant_class or "",
        record.class_,
        Jsonb(record.segment),
        segment_key(record.segment),
        (decision and decision.action) or "",
        outcome.served_route(record),
        (decision and decision.reason) or "",
        outcome.served_manifest(record),
        record.outcome,
        record.policy_valid,
        record.schema_valid,
        outcome.deadline_of(record, document),
        record.admission_ms,
        record.first_token_ms,
        record.completion_ms,
        record.input_tokens,
        record.max_output_tokens,
        record.output_tokens,
        decision and decision.teu,
        outcome.priced_usd(record),
        sorted(one.populations),
        [attempt.attempt_id for attempt in record.attempts],
        None if decision is None else Jsonb(msgspec.to_builtins(decision)),
        Jsonb(msgspec.to_builtins(record.attempts)),
    )
