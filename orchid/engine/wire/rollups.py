"""`orchid.rollup/v1`: what many requests of one edge came to in one step, under one key.

A line is about one combination of segment, route and manifest, or about one tenant. Its histogram
is by bucket of the fixed grid, its figures are in the parts of `orchid.engine.rollup.FIGURES`, and
a latency bound is told by its key: how many were compared with it, how many kept it.
"""

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from orchid.engine.histogram import OVERFLOW
from orchid.engine.outcome import COUNTERS
from orchid.engine.rollup import FIGURES, Figure, Sums
from orchid.engine.wire.diagnosis import UNDECODED, RecordError, why_refused
from orchid.engine.wire.fields import (
    TEXT_FIELDS,
    Cohort,
    Count,
    Dimensions,
    Instant,
    Name,
    check_amount,
)
from orchid.engine.wire.records import BYTE_ORDER_MARK, MAX_RECORD_BYTES, Rejected

Bucket = Annotated[int, Meta(ge=0, le=OVERFLOW)]
BoundKey = Annotated[str, Meta(max_length=64, pattern=r"^[a-z_]+<=[0-9.e+-]+\Z")]
Parts = Annotated[int, Meta(ge=0, le=2**63 - 1)]
#: What is always equal to the number of records, and what parts it without a rest.
_WHOLE, _PARTED = "offered", ("eligible", "ineligible")


class BoundCount(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many requests were compared with a latency bound, and how many of them kept it."""

    judged: Count
    within: Count


class FigureSum(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A figure over the requests that have it: how many, their sum and the largest, in parts."""

    count: Count
    total: Parts
    maximum: Parts


class RollupRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One rollup of one edge. An edge sends each once; the same again changes nothing."""

    schema: Literal["orchid.rollup/v1"]
    product: Name
    step_at: Instant
    publication: Count | None = None
    digest: Name
    cohort: Cohort = "incumbent"
    tenant: Name | None = None
    segment: Dimensions = msgspec.field(default_factory=dict)
    route: Name | None = None
    manifest: Name | None = None
    records: Annotated[int, Meta(ge=1, le=1_000_000_000)]
    counters: dict[Name, Count]
    histogram: dict[Bucket, Count] = msgspec.field(default_factory=dict)
    bounds: Annotated[dict[BoundKey, BoundCount], Meta(max_length=256)] = msgspec.field(
        default_factory=dict
    )
    figures: dict[Name, FigureSum] = msgspec.field(default_factory=dict)
    teu: Decimal = Decimal(0)
    cost_usd: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        check_amount("teu", self.teu)
        check_amount("cost_usd", self.cost_usd)

    def sums(self) -> Sums:
        """What the rollup adds."""
        found = Sums(
            Counter(self.counters),
            histogram=Counter(self.histogram),
            within=Counter({key: bound.within for key, bound in self.bounds.items()}),
            judged=Counter({key: bound.judged for key, bound in self.bounds.items()}),
            figures={
                name: Figure(one.count, one.total, one.maximum)
                for name, one in self.figures.items()
            },
            records=self.records,
        )
        found.add_teu(self.teu)
        found.add_usd(self.cost_usd)
        return found


class ParsedRollups(msgspec.Struct, frozen=True):
    """The rollups of a batch with their line numbers, and the lines that were refused."""

    rollups: list[tuple[int, RollupRecord]]
    rejected: list[Rejected]


_decoder = msgspec.json.Decoder(RollupRecord)


def parse_rollup(line: bytes) -> RollupRecord:
    """Read one rollup; RecordError carries a code, the field and a message."""
    if len(line) > MAX_RECORD_BYTES:
        raise RecordError(
            "too_large", "", f"a rollup may have {MAX_RECORD_BYTES} bytes, this has {len(line)}"
        )
    try:
        rollup = _decoder.decode(line)
    except UNDECODED as error:
        raise why_refused(line, error) from error
    for fault in _faults(rollup):
        raise fault
    return rollup


def parse_rollups(data: bytes) -> ParsedRollups:
    """Read a batch of one rollup a line. A bad line is reported and loses no neighbour."""
    parsed = ParsedRollups([], [])
    for number, line in enumerate(data.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            parsed.rollups.append((number, parse_rollup(line)))
        except RecordError as error:
            parsed.rejected.append(Rejected(number, error.code, error.message, error.field))
    return parsed


def _faults(rollup: RollupRecord) -> Iterator[RecordError]:
    yield from _faults_of_key(rollup)
    yield from _faults_of_counters(rollup)
    yield from _faults_of_latency(rollup)
    yield from _faults_of_figures(rollup)


def _faults_of_key(rollup: RollupRecord) -> Iterator[RecordError]:
    if not TEXT_FIELDS.isdisjoint(rollup.segment):
        yield RecordError("text_not_allowed", "segment", "segment: takes names of dimensions")
    if rollup.tenant is not None and (rollup.segment or rollup.route or rollup.manifest):
        yield RecordError(
            "two_keys", "tenant", "tenant: a rollup by tenant has no segment, route or manifest"
        )


def _faults_of_counters(rollup: RollupRecord) -> Iterator[RecordError]:
    for name, count in rollup.counters.items():
        if name not in COUNTERS:
            yield RecordError("unknown_counter", f"counters.{name}", f"{name}: no population")
        if count > rollup.records:
            yield RecordError(
                "exceeds_records",
                f"counters.{name}",
                f"counters.{name}: {count} of {rollup.records} records",
            )
    offered = rollup.counters.get(_WHOLE, 0)
    parted = sum(rollup.counters.get(name, 0) for name in _PARTED)
    if not offered == parted == rollup.records:
        yield RecordError(
            "counters_differ",
            "counters.offered",
            f"{rollup.records} records, {offered} offered, {parted} eligible or ineligible: "
            "these three are equal",
        )


def _faults_of_latency(rollup: RollupRecord) -> Iterator[RecordError]:
    sampled, counted = sum(rollup.histogram.values()), rollup.counters.get("latency_counted", 0)
    if sampled != counted:
        yield RecordError(
            "histogram_differs",
            "histogram",
            f"histogram: {sampled} samples where latency_counted is {counted}",
        )
    for key, bound in rollup.bounds.items():
        if not bound.within <= bound.judged <= counted:
            yield RecordError(
                "exceeds_population",
                f"bounds.{key}",
                f"{key}: {bound.within} within of {bound.judged} judged of {counted} counted",
            )


def _faults_of_figures(rollup: RollupRecord) -> Iterator[RecordError]:
    for name, one in rollup.figures.items():
        if name not in FIGURES:
            yield RecordError("unknown_figure", f"figures.{name}", f"{name}: no figure")
        if one.count > rollup.records:
            yield RecordError(
                "exceeds_records", f"figures.{name}", f"{name}: {one.count} of {rollup.records}"
            )
        if not one.maximum <= one.total <= one.count * one.maximum:
            yield RecordError(
                "figure_differs",
                f"figures.{name}",
                f"{name}: {one.count} values up to {one.maximum} can't sum up to {one.total}",
            )
