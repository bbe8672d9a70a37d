"""Request records of an edge to rows, and what they add to the rollups.

Rows are stored while later lines are still being read, so what needs the database is asked before
the first of them: documents, values of dimensions, days.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from django.db import connection
from django.utils import timezone

from ingest.models import Batch, FollowedSplit
from ingest.services.clocks import note_skew
from ingest.services.copying import Identity, copy_new
from ingest.services.dimensions import Capped, capped
from ingest.services.edge_steps import claim
from ingest.services.garbage import uncollected
from ingest.services.partitions import AHEAD, RETENTION, ensure_days
from ingest.services.request_rows import COLUMNS, IDENTITY, RowWriter
from ingest.services.rollups import append_deltas, bounds_of
from ingest.services.stored import RejectedPiece, Stored
from ingest.services.tenants import note_tenants
from ingest.services.units import UnitsSeen, followed_splits
from ingest.states import CountedBy
from orchid.engine.clocks import LatencyBound
from orchid.engine.document.model import PolicyDocument
from orchid.engine.known import Mask
from orchid.engine.rollup import step_of
from orchid.engine.tally import Tally
from orchid.engine.wire.glance import Glance, glance
from orchid.engine.wire.lines import Lines, read_lines
from orchid.engine.wire.records import Rejected
from orchid.engine.wire.shapes import Shape
from policies.models import Product, Revision
from policies.selectors import document_of

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY_US = 86_400_000_000

#: A digest and the start of a step.
_Step = tuple[str, datetime]


@uncollected()
def store(batch: Batch, body: bytes) -> Stored:
    """Store what is new of an NDJSON body; each refused line is named and loses no neighbour."""
    reading = _reading(batch, body)
    with connection.cursor() as cursor:
        new = copy_new(cursor, "ingest_request", COLUMNS, IDENTITY, reading.rows)
    chosen = _chosen(reading, new)
    append_deltas(batch.product, batch, *reading.tally.sums(chosen))
    note_tenants(batch.product, batch.pk, reading.tally.traffic(chosen))
    reading.units.store()
    _note_clock(batch, reading.newest_us)
    inserted = len(reading.identities) if new is None else len(new)
    counts = {"records": reading.records, "inserted": inserted}
    counts["duplicates"] = reading.records - inserted
    return Stored(counts, sorted(reading.rejected, key=lambda piece: piece["line"]))


def _note_clock(batch: Batch, newest_us: int | None) -> None:
    """Who sends what has yet to arrive has a clock that runs ahead."""
    if newest_us is not None:
        ahead_ms = (newest_us - _microseconds(batch.received_at)) / 1000
        if ahead_ms > 0:
            note_skew(batch.product, batch.source.name, ahead_ms, batch.received_at)


def _chosen(reading: "_Reading", new: set[Identity] | None) -> Mask | None:
    if new is None:
        return None
    stored = {(request_id, (day - _EPOCH.date()).days) for request_id, day in new}
    return np.array([one in stored for one in reading.identities], dtype=np.bool_)


def _reading(batch: Batch, body: bytes) -> "_Reading":
    """Ask the database what is needed before the first row."""
    seen, now = glance(body), timezone.now()
    oldest, newest = now - RETENTION, now + AHEAD
    documents = _documents(batch.product, seen.digests)
    caps = capped(batch.product, seen.segments, seen.tenants)
    ensure_days(day for day in seen.days if oldest.date() <= day <= newest.date())
    bounds = bounds_of(batch.product)
    kept = range(_microseconds(oldest) + 1, _microseconds(newest) + 1)
    taken = _counted_by_rollups(batch, seen, documents, kept)
    splits = followed_splits(batch.product)
    return _Reading(batch, body, documents, caps, bounds, kept, taken, splits)


def _counted_by_rollups(
    batch: Batch, seen: Glance, documents: Mapping[str, PolicyDocument], kept: range
) -> set[_Step]:
    """The steps of these records that this edge has counted itself; the others are claimed."""
    steps = {
        _step(documents[digest], digest, second)
        for digest, seconds in seen.counted_s.items()
        if digest in documents
        for second in seconds
        if second * 1_000_000 in kept
    }
    starts = {start for _, start in steps}
    taken = claim(batch.product, batch.source.name, starts, CountedBy.RECORDS)
    return {(digest, start) for digest, start in steps if start in taken}


def _step(document: PolicyDocument, digest: str, second: int) -> _Step:
    return digest, step_of(_EPOCH + timedelta(seconds=second), document.gates.step_s)


def _documents(product: Product, digests: set[str]) -> dict[str, PolicyDocument]:
    known = Revision.objects.filter(generation__product=product, digest__in=digests)
    return {digest: document_of(digest) for digest in set(known.values_list("digest", flat=True))}


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)


@dataclass
class _Reading:
    """One batch while it is read. `kept` are the arrivals that can be stored, in microseconds."""

    batch: Batch
    body: bytes
    documents: Mapping[str, PolicyDocument]
    caps: Capped
    bounds: Sequence[LatencyBound]
    kept: range
    taken: set[_Step]
    splits: dict[int, FollowedSplit]

    def __post_init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self.tally = Tally(self.documents, self.bounds, self.caps.dims_of, self.caps.tenant_of)
        self.units = UnitsSeen(self.splits, self.caps)
        self.newest_us: int | None = None
        self.rejected: list[RejectedPiece] = []
        self.records = 0
        #: Request ids with their days since the epoch, in order.
        self.identities: list[tuple[str, int]] = []
        self._met: set[tuple[str, int]] = set()
        self._fine: set[Shape] = set()

    def rows(self) -> Iterator[bytes]:
        """Read the body from its beginning and count it; rows of its sound records, each once."""
        self._begin()
        writer = RowWriter(self.batch.product_id, self.batch.pk, self.tally)
        unread: list[Rejected] = []
        for some in read_lines(self.body, unread):
            self.newest_us = max([self.newest_us or 0, *some.arrived_us])
            lines = self._first_of_each(self._acceptable(some))
            if lines.numbers:
                self.units.add(lines)
                yield writer.rows(lines, self.tally.add(lines))
        self.rejected += [
            RejectedPiece(line=one.line, code=one.code, field=one.field, message=one.message)
            for one in unread
        ]

    def _acceptable(self, lines: Lines) -> Lines:
        """Without those that this product can't judge or keep."""
        if not self.taken and self._all_fine(lines):
            return lines
        kept = []
        for place, (number, shape) in enumerate(zip(lines.numbers, lines.shapes, strict=True)):
            refusal = self._refusal(shape, lines.arrived_us[place])
            if refusal is None:
                kept.append(place)
            else:
                self.rejected.append(RejectedPiece(line=number, **refusal))
        return lines.take(kept)

    def _all_fine(self, lines: Lines) -> bool:
        """The common case at the price of a set: shapes are few, and times lie close together."""
        for shape in set(lines.shapes) - self._fine:
            if self._refusal_of(shape) is not None:
                return False
            self._fine.add(shape)
        times = lines.arrived_us
        return not times or (min(times) in self.kept and max(times) in self.kept)

    def _refusal(self, shape: Shape, arrived_us: int) -> RejectedPiece | None:
        if refusal := self._refusal_of(shape):
            return refusal
        if arrived_us not in self.kept:
            return _BAD_TIME
        return _BY_ROLLUP if self._is_taken(shape, arrived_us) else None

    def _is_taken(self, shape: Shape, arrived_us: int) -> bool:
        if not self.taken or shape.in_rollup or shape.digest is None:
            return False
        document = self.documents[shape.digest]
        return _step(document, shape.digest, arrived_us // 1_000_000) in self.taken

    def _refusal_of(self, shape: Shape) -> RejectedPiece | None:
        slug = self.batch.product.slug
        if shape.product != slug:
            return RejectedPiece(
                code="other_product", field="product", message=f"This credential is for {slug}."
            )
        if shape.digest is None:
            return _NO_GENERATION
        return None if shape.digest in self.documents else _UNKNOWN_DIGEST

    def _first_of_each(self, lines: Lines) -> Lines:
        """Of two with one identity the first counts."""
        self.records += len(lines.numbers)
        days = [arrived_us // _DAY_US for arrived_us in lines.arrived_us]
        named = [(one.request_id, day) for one, day in zip(lines.requests, days, strict=True)]
        fresh = set(named)
        if len(fresh) < len(named) or not self._met.isdisjoint(fresh):
            first = [at for at, one in enumerate(named) if self._is_first(one)]
            lines, named = lines.take(first), [named[at] for at in first]
        self._met |= fresh
        self.identities += named
        return lines

    def _is_first(self, identity: tuple[str, int]) -> bool:
        if identity in self._met:
            return False
        self._met.add(identity)
        return True


_NO_GENERATION = RejectedPiece(
    code="no_generation",
    field="digest",
    message="It was decided under no generation, so no contract says what it counts as.",
)
_UNKNOWN_DIGEST = RejectedPiece(
    code="unknown_digest",
    field="digest",
    message="No generation of this product has that digest.",
)
_BY_ROLLUP = RejectedPiece(
    code="counted_by_rollup",
    field="arrived_at",
    message="A rollup of this edge stands for the step; mark the record in_rollup.",
)
_BAD_TIME = RejectedPiece(
    code="bad_time",
    field="arrived_at",
    message="The arrival is in the future or past what is kept.",
)
