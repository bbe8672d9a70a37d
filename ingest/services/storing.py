"""What storing a delivery means: its checks, its one statement, and how the answer is read.

Both doors, Django's and the edges' own, go through these three. One statement is one transaction
and one round trip: whoever hears of a stored batch hears of a committed one.
"""

import hashlib
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, LiteralString

from django.conf import settings
from psycopg.types.json import Jsonb

from controlplane.env import InboxBounds
from controlplane.errors import BadInput, Conflict, TooMany, retry_after
from ingest.services.encoding import check

_BATCH_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


@dataclass(frozen=True)
class SourceKey:
    """What identifies a sender, and what it declares about itself."""

    kind: str
    name: str
    server_run: str = ""
    engine_kind: str = ""
    anchor_monotonic_ns: int | None = None
    anchor_unix_ns: int | None = None


@dataclass(frozen=True)
class BatchMeta:
    """Where the batch lies in its sender's sequence; an idle edge sends one with no records.

    `declared` is what the sender of a whole file said of it.
    """

    boot_id: str = ""
    first_seq: int | None = None
    last_seq: int | None = None
    watermark: datetime | None = None
    declared: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Delivery:
    """One batch as it came. `product` is its primary key, `slug` its name."""

    product: int
    slug: str
    source: SourceKey
    batch_id: str
    kind: str
    body: bytes
    content_type: str
    encoding: str
    meta: BatchMeta


def parameters(delivery: Delivery) -> dict[str, Any]:
    """The values of STORE. Raises BadInput for an id or an encoding that can't be used."""
    if not _BATCH_ID.fullmatch(delivery.batch_id):
        raise BadInput("bad_batch_id", "Batch-Id takes 1 to 128 letters, digits and . _ : -")
    check(delivery.body, delivery.encoding)
    bounds: InboxBounds = settings.INBOX
    return {
        **vars(bounds),
        **vars(delivery.source),
        **vars(delivery.meta),
        "declared": Jsonb(delivery.meta.declared),
        "product": delivery.product,
        "batch_id": delivery.batch_id,
        "batch_kind": delivery.kind,
        "content_type": delivery.content_type.replace("\x00", "")[:128],
        "encoding": delivery.encoding,
        "body": delivery.body,
        "size": len(delivery.body),
        "sha256": hashlib.sha256(delivery.body).hexdigest(),
    }


def created(row: dict[str, Any], delivery: Delivery, digest: str) -> bool:
    """Whether the statement stored the batch; False when it was here before.

    Raises Conflict when the id was used for other bytes, TooMany when the inbox is over its bound.
    """
    if row["known"] is not None:
        if row["known"] != digest:
            raise Conflict("batch_id_reused", "This Batch-Id came before with other content.")
        return False
    for place, over in ((delivery.slug, row["own_over"]), ("all products", row["all_over"])):
        if over:
            raise TooMany("inbox_full", _full(place, row, delivery), headers=retry_after(3, 10))
    return True


def _full(place: str, row: dict[str, Any], delivery: Delivery) -> str:
    waiting = f"{row['batches']} batches with {row['bytes'] - row['aside']} bytes"
    told = (
        f"The inbox of {place} is over its bound ({waiting} of {delivery.slug} wait to be"
        " counted); send this one again after the seconds of Retry-After."
    )
    if row["aside"]:
        told += (
            f" {row['aside']} bytes of {delivery.slug} were set aside and take room until somebody"
            f" tries them again on its Sources page, or for {settings.INGEST.requests_days} days."
        )
    return told


def again(row: dict[str, Any]) -> bool:
    """Whether the same id was committed by another delivery while the statement ran.

    The statement didn't see it, and sees it when it runs once more.
    """
    return row["id"] is None and not row["own_over"] and not row["all_over"]


# What is set aside takes room on the disk as what waits does, and keeps no place in the queue. It
# is counted against files alone: broken files must never hold up what verdicts rest on.
# Deliveries at the same moment don't see each other, so a bound may be passed by as many. An empty
# inbox takes any batch. A source that was seen this second is not written again, so that deliveries
# of one sender don't wait for each other; a declared anchor is kept until another is declared.
STORE: LiteralString = """
WITH known AS (
    SELECT id, sha256 FROM ingest_batch WHERE product_id = %(product)s AND batch_id = %(batch_id)s
), waiting AS (
    SELECT count(*) AS batches, coalesce(sum(size), 0) AS bytes
    FROM ingest_batch WHERE status = 'received' AND product_id = %(product)s
), aside AS (
    SELECT coalesce(sum(size) FILTER (WHERE product_id = %(product)s), 0) AS bytes,
           coalesce(sum(size), 0) AS all_bytes
    FROM ingest_batch
    WHERE status = 'set_aside' AND %(batch_kind)s NOT IN ('edge', 'rollup')
), own AS (
    SELECT waiting.batches, waiting.bytes + aside.bytes AS bytes, aside.bytes AS aside
    FROM waiting, aside
), every AS (
    SELECT count(*) AS batches,
           coalesce(sum(size), 0) + (SELECT all_bytes FROM aside) AS bytes
    FROM ingest_batch WHERE status = 'received'
), room AS (
    SELECT own.batches, own.bytes, own.aside,
           own.batches >= %(product_batches)s
               OR own.bytes > 0 AND own.bytes + %(size)s > %(product_bytes)s AS own_over,
           every.batches >= %(all_batches)s
               OR every.bytes > 0 AND every.bytes + %(size)s > %(all_bytes)s AS all_over
    FROM own, every
), fresh AS (
    SELECT id FROM ingest_source
    WHERE product_id = %(product)s AND kind = %(kind)s AND name = %(name)s
        AND server_run = %(server_run)s AND last_seen_at > clock_timestamp() - interval '1 second'
        AND %(engine_kind)s IN ('', engine_kind) AND %(anchor_unix_ns)s::bigint IS NULL
), seen AS (
    INSERT INTO ingest_source AS source (
        product_id, kind, name, server_run, engine_kind, expected_manifest,
        anchor_monotonic_ns, anchor_unix_ns, created_at, last_seen_at
    )
    SELECT %(product)s, %(kind)s, %(name)s, %(server_run)s, %(engine_kind)s, '{}',
           %(anchor_monotonic_ns)s::bigint, %(anchor_unix_ns)s::bigint,
           clock_timestamp(), clock_timestamp()
    FROM room WHERE NOT own_over AND NOT all_over
        AND NOT EXISTS (SELECT FROM known) AND NOT EXISTS (SELECT FROM fresh)
    ON CONFLICT (product_id, kind, name, server_run) DO UPDATE SET
        last_seen_at = clock_timestamp(),
        engine_kind = coalesce(nullif(excluded.engine_kind, ''), source.engine_kind),
        anchor_monotonic_ns = coalesce(excluded.anchor_monotonic_ns, source.anchor_monotonic_ns),
        anchor_unix_ns = coalesce(excluded.anchor_unix_ns, source.anchor_unix_ns)
    RETURNING id
), sender AS (
    SELECT id FROM fresh UNION ALL SELECT id FROM seen
), stored AS (
    INSERT INTO ingest_batch (
        product_id, source_id, batch_id, kind, content_type, encoding, body, size, sha256,
        boot_id, first_seq, last_seq, watermark, declared,
        received_at, status, tries, counts, rejected, reason
    )
    SELECT %(product)s, sender.id, %(batch_id)s, %(batch_kind)s, %(content_type)s, %(encoding)s,
           %(body)s::bytea, %(size)s, %(sha256)s, %(boot_id)s, %(first_seq)s::bigint,
           %(last_seq)s::bigint, %(watermark)s::timestamptz, %(declared)s,
           clock_timestamp(), 'received', 0, '{}', '[]', ''
    FROM sender, room WHERE NOT own_over AND NOT all_over AND NOT EXISTS (SELECT FROM known)
    ON CONFLICT (product_id, batch_id) DO NOTHING
    RETURNING id
)
SELECT coalesce((SELECT id FROM stored), (SELECT id FROM known)) AS id,
       (SELECT sha256 FROM known) AS known, room.*
FROM room
"""

#: What a receipt is made of, for whoever can't ask the ORM.
RECEIPT_OF: LiteralString = """
SELECT batch.batch_id, batch.kind, source.name AS source, batch.status, batch.size,
       batch.received_at, batch.done_at, batch.counts, batch.rejected, batch.reason
FROM ingest_batch batch JOIN ingest_source source ON source.id = batch.source_id
WHERE batch.id = %(id)s
"""
