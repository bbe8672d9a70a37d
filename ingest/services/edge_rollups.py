"""Rollups that an edge counted itself: each of its steps and keys is added once.

A rollup is known by edge, step and key, so that neither a second delivery nor another batching
changes a figure; the same key with other content is refused and never replaces what was counted.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from django.db import connection
from django.utils import timezone

from ingest.models import Batch
from ingest.services.dimensions import MANIFEST, ROUTE, Capped, capped, capped_served
from ingest.services.edge_steps import claim
from ingest.services.partitions import EDGE_ROLLUPS, ensure_rollup_days, is_kept
from ingest.services.rollups import Cell, Placed, Stream, append, stream_ids
from ingest.services.stored import RejectedPiece, Stored
from ingest.services.tenants import note_tenants
from ingest.states import CountedBy, RollupBy
from orchid.engine.document.model import PolicyDocument
from orchid.engine.rollup import Sums, step_of
from orchid.engine.rollup_bytes_1 import spelled
from orchid.engine.segments import segment_key
from orchid.engine.wire.rollups import RollupRecord, parse_rollups
from policies.models import Product, Revision
from policies.selectors import document_of


class Given(NamedTuple):
    """One rollup with its line in the batch."""

    line: int
    rollup: RollupRecord

    @property
    def step_at(self) -> datetime:
        return self.rollup.step_at.astimezone(UTC)

    @property
    def stream(self) -> Stream:
        by = RollupBy.CELL if self.rollup.tenant is None else RollupBy.TENANT
        return Stream(by, self.rollup.publication, self.rollup.digest, self.rollup.cohort)

    @property
    def key_hash(self) -> int:
        """Of what parts one rollup of a stream and step from another."""
        one = self.rollup
        parts = (segment_key(one.segment), one.route or "", one.manifest or "", one.tenant or "")
        return _hash("\n".join(parts).encode())

    @property
    def content(self) -> int:
        """Of everything that it says, however it was spelled."""
        return _hash(spelled({0: self.rollup.sums()}))


#: Stream, step and hash of the key.
Key = tuple[int, datetime, int]


def store(batch: Batch, body: bytes) -> Stored:
    """Add what is new of an NDJSON body; each refused line is named and loses no neighbour."""
    parsed = parse_rollups(body)
    rejected = [
        RejectedPiece(line=one.line, code=one.code, field=one.field, message=one.message)
        for one in parsed.rejected
    ]
    sound, refused = _sound(batch, [Given(*one) for one in parsed.rollups])
    new, duplicates, other = _new(batch, sound)
    append(batch.product, batch.pk, _placed(batch.product, new))
    note_tenants(batch.product, batch.pk, _traffic(new))
    counts = {
        "rollups": len(parsed.rollups),
        "inserted": len(new),
        "duplicates": duplicates,
        "requests": sum(one.rollup.records for one in new if one.rollup.tenant is None),
    }
    return Stored(counts, sorted(rejected + refused + other, key=lambda piece: piece["line"]))


def _sound(batch: Batch, given: Sequence[Given]) -> tuple[list[Given], list[RejectedPiece]]:
    documents = _documents(batch.product, {one.rollup.digest for one in given})
    found = [(one, _refusal(one, batch.product, documents)) for one in given]
    sound = [one for one, refusal in found if refusal is None]
    refused = [RejectedPiece(line=one.line, **why) for one, why in found if why is not None]
    steps = {one.step_at for one in sound}
    taken = claim(batch.product, batch.source.name, steps, CountedBy.ROLLUPS)
    refused += [_by_records(one) for one in sound if one.step_at in taken]
    return [one for one in sound if one.step_at not in taken], refused


def _documents(product: Product, digests: set[str]) -> dict[str, PolicyDocument]:
    known = Revision.objects.filter(generation__product=product, digest__in=digests)
    return {digest: document_of(digest) for digest in set(known.values_list("digest", flat=True))}


def _refusal(
    given: Given, product: Product, documents: Mapping[str, PolicyDocument]
) -> RejectedPiece | None:
    rollup = given.rollup
    if rollup.product != product.slug:
        return RejectedPiece(
            code="other_product", field="product", message=f"This credential is for {product.slug}."
        )
    if rollup.digest not in documents:
        return RejectedPiece(
            code="unknown_digest",
            field="digest",
            message="No generation of this product has that digest.",
        )
    step_s = documents[rollup.digest].gates.step_s
    if step_of(given.step_at, step_s) != given.step_at:
        return RejectedPiece(
            code="bad_step",
            field="step_at",
            message=f"Steps of that generation start every {step_s} s, counted from 1970.",
        )
    if not is_kept(given.step_at, timezone.now()):
        return RejectedPiece(
            code="bad_time",
            field="step_at",
            message="The step is in the future or past what is kept.",
        )
    return None


def _by_records(given: Given) -> RejectedPiece:
    return RejectedPiece(
        line=given.line,
        code="counted_from_records",
        field="step_at",
        message="Records of this edge were counted for the step; mark them in_rollup instead.",
    )


def _new(batch: Batch, sound: Sequence[Given]) -> tuple[list[Given], int, list[RejectedPiece]]:
    """What was not counted before; how many were, and what came before with other content."""
    streams = stream_ids(batch.product, {one.stream for one in sound})
    keyed = [((streams[one.stream], one.step_at, one.key_hash), one) for one in sound]
    first = dict(reversed(keyed))  # of two with one key in a batch the first counts
    inserted = _insert(batch, first)
    contents = _contents(batch, first)
    new = [first[key] for key in sorted(inserted)]
    rest = [(key, one) for key, one in keyed if key not in inserted or first[key] is not one]
    other = [_differs(one) for key, one in rest if contents[key] != one.content]
    return new, len(rest) - len(other), other


def _insert(batch: Batch, first: Mapping[Key, Given]) -> set[Key]:
    """The keys that were not there yet. Sorted, so that two workers never wait in a ring."""
    keys = sorted(first)
    ensure_rollup_days(EDGE_ROLLUPS, {step_at.date() for _, step_at, _ in keys})
    columns = [list(column) for column in zip(*keys, strict=True)] or [[], [], []]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO ingest_edge_rollup (day, source_id, stream_id, step_at, key_hash, content)
            SELECT (step_at AT TIME ZONE 'UTC')::date, %s, stream_id, step_at, key_hash, content
            FROM unnest(%s::bigint[], %s::timestamptz[], %s::bigint[], %s::bigint[])
                AS given(stream_id, step_at, key_hash, content)
            ON CONFLICT DO NOTHING RETURNING stream_id, step_at, key_hash
            """,
            [batch.source_id, *columns, [first[key].content for key in keys]],
        )
        return {_key(*row) for row in cursor.fetchall()}


def _contents(batch: Batch, keys: Iterable[Key]) -> dict[Key, int]:
    """What was counted under these keys."""
    columns = [list(column) for column in zip(*keys, strict=True)] or [[], [], []]
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT stream_id, step_at, key_hash, content
            FROM unnest(%s::bigint[], %s::timestamptz[], %s::bigint[])
                AS given(stream_id, step_at, key_hash)
            JOIN ingest_edge_rollup USING (stream_id, step_at, key_hash)
            WHERE source_id = %s AND day = (step_at AT TIME ZONE 'UTC')::date
            """,
            [*columns, batch.source_id],
        )
        return {_key(*row): content for *row, content in cursor.fetchall()}


def _key(stream: int, step_at: datetime, key_hash: int) -> Key:
    return stream, step_at.astimezone(UTC), key_hash


def _differs(given: Given) -> RejectedPiece:
    return RejectedPiece(
        line=given.line,
        code="rollup_differs",
        field="",
        message="A rollup of this edge, step and key was counted before with other figures.",
    )


def _placed(product: Product, new: Sequence[Given]) -> dict[Placed, Sums]:
    """Where the sums are added, under the values that the product keeps."""
    rollups = [one.rollup for one in new]
    caps = capped(product, (one.segment for one in rollups), (one.tenant or "" for one in rollups))
    served = capped_served(product, ((one.route or "", one.manifest or "") for one in rollups))
    placed: dict[Placed, Sums] = {}
    for one in new:
        cell = _cell(one.rollup, caps, served)
        placed.setdefault((one.stream, one.step_at, cell), Sums()).merge(one.rollup.sums())
    return placed


def _traffic(new: Sequence[Given]) -> Counter[str]:
    """Requests by tenant, by its own name."""
    requests: Counter[str] = Counter()
    for one in new:
        requests[one.rollup.tenant or ""] += one.rollup.records
    return requests


def _cell(rollup: RollupRecord, caps: Capped, served: Capped) -> Cell:
    if rollup.tenant is not None:
        return Cell(RollupBy.TENANT, tenant=caps.tenant_of(rollup.tenant))
    return Cell(
        RollupBy.CELL,
        segment_key(dict(caps.dims_of(rollup.segment))),
        served.value_of(ROUTE, rollup.route or ""),
        served.value_of(MANIFEST, rollup.manifest or ""),
    )


def _hash(data: bytes) -> int:
    """The first eight bytes of SHA-256, as PostgreSQL's bigint holds them."""
    return int.from_bytes(hashlib.sha256(data).digest()[:8], signed=True)
