"""Decisions of a candidate beside what was decided: each is stored and counted once.

A line is known by publication, request and attempt. What an edge left out is counted with the line
that says so, and so no oftener than it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
from django.db import connection
from django.utils import timezone

from ingest.models import Batch
from ingest.services.dimensions import Capped, capped
from ingest.services.partitions import SHADOWS, ensure_rollup_days, is_kept
from ingest.services.stored import RejectedPiece, Stored
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import segment_key
from orchid.engine.shadow.differences import NEAR, difference, near
from orchid.engine.wire.shadow import ShadowRecord, parse_shadows
from policies.models import Product, Revision
from policies.selectors import document_of

#: Bits of a row's id that are its line in the batch.
_LINE_BITS = 20
_COLUMNS = {
    "day": "date",
    "id": "bigint",
    "product_id": "bigint",
    "publication": "integer",
    "request_id": "text",
    "attempt": "smallint",
    "mode": "text",
    "at": "timestamptz",
    "edge": "text",
    "class_name": "text",
    "tenant": "text",
    "segment": "text",
    "dims_key": "text",
    "difference": "text",
    "near_deadline": "boolean",
    "near_long_context": "boolean",
    "near_budget": "boolean",
    "route": "text",
    "deadline_ms": "double precision",
    "input_tokens": "integer",
    "max_output_tokens": "integer",
    "incumbent": "text",
    "candidate": "text",
}
_STORE = (
    f"INSERT INTO {SHADOWS} ({', '.join(_COLUMNS)}) SELECT * FROM unnest("  # noqa: S608 (constants)
    + ", ".join(f"%s::{kind}[]" for kind in _COLUMNS.values())
    + ") ON CONFLICT DO NOTHING RETURNING id"
)
_COUNT = """
INSERT INTO ingest_shadowcount AS known
    (source_id, publication, mode, counted, near, n, first_at, last_at)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
ON CONFLICT (source_id, publication, mode, counted, near) DO UPDATE SET
    n = known.n + excluded.n,
    first_at = least(known.first_at, excluded.first_at),
    last_at = greatest(known.last_at, excluded.last_at)
"""


class Given(NamedTuple):
    """One line with its number, and what its two decisions come to."""

    line: int
    record: ShadowRecord
    difference: str
    near: frozenset[str]

    @property
    def bits(self) -> int:
        return sum(1 << place for place, name in enumerate(NEAR) if name in self.near)

    @property
    def identity(self) -> tuple[int, str, int, datetime]:
        one = self.record
        return one.publication, one.request_id, one.attempt, _day_of(one)


class Counted(NamedTuple):
    """Under what a line is counted."""

    publication: int
    mode: str
    counted: str
    near: int


def store(batch: Batch, body: bytes) -> Stored:
    """Store what is new of an NDJSON body; each refused line is named and loses no neighbour."""
    parsed = parse_shadows(body)
    rejected = [
        RejectedPiece(line=one.line, code=one.code, field=one.field, message=one.message)
        for one in parsed.rejected
    ]
    sound, refused = _sound(batch, parsed.records)
    new = _inserted(batch, sound)
    _count(batch, new)
    counts = {
        "decisions": len(parsed.records),
        "inserted": len(new),
        "duplicates": len(sound) - len(new),
    }
    return Stored(counts, sorted(rejected + refused, key=lambda piece: piece["line"]))


def _sound(
    batch: Batch, records: Sequence[tuple[int, ShadowRecord]]
) -> tuple[list[Given], list[RejectedPiece]]:
    named = {one.candidate_digest for _, one in records}
    named |= {one.incumbent_digest for _, one in records}
    documents, now = _documents(batch.product, named), timezone.now()
    sound, refused = [], []
    for line, record in records:
        why = _refusal(record, batch.product, documents, now)
        if why is None:
            sound.append(_given(line, record, documents[record.candidate_digest]))
        else:
            refused.append(RejectedPiece(line=line, **why))
    return sound, refused


def _documents(product: Product, digests: set[str]) -> dict[str, PolicyDocument]:
    known = Revision.objects.filter(generation__product=product, digest__in=digests)
    return {digest: document_of(digest) for digest in set(known.values_list("digest", flat=True))}


def _refusal(
    record: ShadowRecord,
    product: Product,
    documents: Mapping[str, PolicyDocument],
    now: datetime,
) -> RejectedPiece | None:
    if record.product != product.slug:
        return RejectedPiece(
            code="other_product", field="product", message=f"This credential is for {product.slug}."
        )
    for field in ("incumbent_digest", "candidate_digest"):
        if getattr(record, field) not in documents:
            return RejectedPiece(
                code="unknown_digest",
                field=field,
                message="No generation of this product has that digest.",
            )
    if not is_kept(record.at, now):
        return RejectedPiece(
            code="bad_time", field="at", message="It is in the future or past what is kept."
        )
    return None


def _given(line: int, record: ShadowRecord, document: PolicyDocument) -> Given:
    differs = difference(record.incumbent, record.candidate)
    return Given(line, record, differs, frozenset(near(record, document)))


def _inserted(batch: Batch, sound: Sequence[Given]) -> list[Given]:
    """Those that were not there; of two with one identity in a batch the first counts."""
    first = {one.identity: one for one in reversed(sound)}
    if not first:
        return []
    caps = capped(
        batch.product,
        (one.record.segment for one in first.values()),
        (one.record.tenant for one in first.values()),
    )
    ordered = [first[key] for key in sorted(first)]  # so that two workers never wait in a ring
    ensure_rollup_days(SHADOWS, {_day_of(one.record).date() for one in ordered})
    columns = zip(*(_row(batch, one, caps) for one in ordered), strict=True)
    with connection.cursor() as cursor:
        cursor.execute(_STORE, [list(column) for column in columns])
        stored = {row_id for (row_id,) in cursor.fetchall()}
    return [one for one in ordered if _id_of(batch, one) in stored]


def _id_of(batch: Batch, given: Given) -> int:
    return (batch.pk << _LINE_BITS) + given.line


def _row(batch: Batch, given: Given, caps: Capped) -> tuple[Any, ...]:
    one = given.record
    return (
        _day_of(one).date(),
        _id_of(batch, given),
        batch.product_id,
        one.publication,
        one.request_id,
        one.attempt,
        one.mode,
        one.at,
        batch.source.name,
        one.class_,
        one.tenant,
        msgspec.json.encode(one.segment).decode(),
        segment_key(dict(caps.dims_of(one.segment))),
        given.difference,
        *(name in given.near for name in NEAR),
        one.candidate.route or "",
        one.deadline_ms,
        one.input_tokens,
        one.max_output_tokens,
        msgspec.json.encode(one.incumbent).decode(),
        msgspec.json.encode(one.candidate).decode(),
    )


def _day_of(record: ShadowRecord) -> datetime:
    """The start of its day, which is a part of its identity as of a request's."""
    return record.at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def _count(batch: Batch, new: Iterable[Given]) -> None:
    """Add to the source's counts, in one order, so that two workers never wait in a ring."""
    counts: Counter[Counted] = Counter()
    moments: dict[Counted, list[datetime]] = {}
    for given in new:
        one = given.record
        for key, n in _keys(given):
            counts[key] += n
            moments.setdefault(key, []).append(one.at)
    values = [
        (batch.source_id, *key, counts[key], min(moments[key]), max(moments[key]))
        for key in sorted(counts)
    ]
    with connection.cursor() as cursor:
        cursor.executemany(_COUNT, values)


def _keys(given: Given) -> Iterable[tuple[Counted, int]]:
    one = given.record
    yield Counted(one.publication, one.mode, given.difference, given.bits), 1
    for reason, n in one.passed_over.items():
        if n:
            yield Counted(one.publication, one.mode, reason, 0), n
