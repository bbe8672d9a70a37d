"""Measured attempts as the fit reads them, and the shape cells by which its error is kept."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import INPUT_BUCKET, OUTPUT_BUCKET, bucket_name
from orchid.engine.wire.records import AttemptRecord, RequestRecord

#: Attempts whose whole prompt was read and whose output length is what it cost.
MEASURED = frozenset({"completed", "bounded", "early_terminated", "truncated"})
#: Refusals that a smaller estimate could have spared.
PRICED_OUT = frozenset({"share_exhausted", "budget_exhausted", "queue_full"})


@dataclass(frozen=True, slots=True)
class AttemptSample:
    """What one attempt was and what it took of its accelerator.

    `input_tokens` include the cached ones. `version` names model, runtime and hardware together;
    `max_output_tokens` is the cap that admission knew, where one is recorded.
    """

    route: str
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    accelerator_ms: float
    version: str = ""
    tenant: str = "-"
    max_output_tokens: int | None = None

    def __post_init__(self) -> None:
        if not 0 < self.accelerator_ms < math.inf:
            raise ValueError("an attempt's accelerator_ms is a finite number above zero")

    @property
    def uncached_tokens(self) -> int:
        return max(self.input_tokens - self.cached_tokens, 0)


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """A shape: a route and the buckets that admission can know before the answer."""

    route: str
    input_bucket: str
    output_bucket: str


@dataclass(frozen=True, slots=True)
class Buckets:
    """Upper edges in tokens, inclusive, of input and of output cap; none is one bucket."""

    input: tuple[int, ...] = (512, 4096)
    output: tuple[int, ...] = (64, 512)

    def cell(self, route: str, input_tokens: int, output_tokens: int) -> Cell:
        return Cell(
            route, bucket_name(self.input, input_tokens), bucket_name(self.output, output_tokens)
        )

    def of(self, sample: AttemptSample) -> Cell:
        """By the cap where it is known, for that is what an estimate is made from."""
        cap = sample.max_output_tokens
        return self.cell(
            sample.route, sample.input_tokens, sample.output_tokens if cap is None else cap
        )


def rows_by_cell(samples: Sequence[AttemptSample], buckets: Buckets) -> dict[Cell, list[int]]:
    """Where each cell's samples are, cells in order."""
    rows: dict[Cell, list[int]] = {}
    for row, sample in enumerate(samples):
        rows.setdefault(buckets.of(sample), []).append(row)
    return dict(sorted(rows.items()))


def buckets_of(document: PolicyDocument) -> Buckets:
    """The document's own edges; a dimension that it doesn't bucket is one bucket."""
    edges = document.segments.buckets
    return Buckets(tuple(edges.get(INPUT_BUCKET, ())), tuple(edges.get(OUTPUT_BUCKET, ())))


@dataclass(frozen=True, slots=True)
class RefusedShape:
    """A request that was refused for its price."""

    route: str
    tenant: str
    input_tokens: int
    max_output_tokens: int


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """An attempt that says too little, and what it lacks."""

    lacks: str


def samples_of(
    record: RequestRecord, measured_ms: Mapping[str, float] | None = None
) -> Iterator[AttemptSample | Unmeasured]:
    """The attempts of a record. `measured_ms` gives accelerator times by attempt id from elsewhere.

    A time that the record states itself wins over one from elsewhere.
    """
    for attempt in record.attempts:
        stated = _accelerator_ms(attempt)
        if stated is None and measured_ms is not None:
            stated = measured_ms.get(attempt.attempt_id)
        yield _sample(record, attempt, stated)


def refused_shape(record: RequestRecord) -> RefusedShape | None:
    """The shape of a request that was refused for its price; None for every other."""
    decided = record.decision
    if decided is None or decided.action != "reject" or decided.reason not in PRICED_OUT:
        return None
    tokens, cap = record.input_tokens, record.max_output_tokens
    if decided.route is None or tokens is None or cap is None:
        return None
    return RefusedShape(decided.route, record.tenant or "-", tokens, cap)


def _sample(
    record: RequestRecord, attempt: AttemptRecord, accelerator_ms: float | None
) -> AttemptSample | Unmeasured:
    if attempt.status not in MEASURED:
        return Unmeasured("a whole answer")
    output = _output_tokens(record, attempt)
    if attempt.route is None or record.input_tokens is None or output is None:
        return Unmeasured("route, input_tokens or output_tokens")
    if not accelerator_ms:
        return Unmeasured("accelerator_ms")
    cached = record.cached_input_tokens or 0
    apart = cached if record.input_convention == "excludes_cached" else 0
    return AttemptSample(
        route=attempt.route,
        input_tokens=record.input_tokens + apart,
        cached_tokens=cached,
        output_tokens=output,
        accelerator_ms=accelerator_ms,
        version=_version(attempt),
        tenant=record.tenant or "-",
        max_output_tokens=record.max_output_tokens,
    )


def _output_tokens(record: RequestRecord, attempt: AttemptRecord) -> int | None:
    """The attempt's own count; the request's only where no other attempt can share in it."""
    if attempt.useful_tokens is not None:
        return attempt.useful_tokens
    return record.output_tokens if len(record.attempts) == 1 else None


def _accelerator_ms(attempt: AttemptRecord) -> float | None:
    if attempt.accelerator_ms is not None:
        return attempt.accelerator_ms
    parts = attempt.accelerator_prefill_ms, attempt.accelerator_decode_ms
    return parts[0] + parts[1] if parts[0] is not None and parts[1] is not None else None


def _version(attempt: AttemptRecord) -> str:
    """Manifest, else model version; and the pool, which stands for the hardware."""
    named = attempt.manifest or attempt.model_version
    return "@".join(part for part in (named, attempt.pool) if part)
