"""Rows of requests from lines of records.

What a row says in words is the same for all lines of one shape, so it is written once a shape.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ingest.services import binary
from ingest.services.binary import Numbers
from orchid.engine.segments import segment_key
from orchid.engine.tally import Tally, Told
from orchid.engine.wire.amounts import TEU_PARTS, USD_PARTS
from orchid.engine.wire.lines import Lines
from orchid.engine.wire.shapes import Shape

_WORDS = (
    "product_id",
    "publication",
    "digest",
    "cohort",
    "tenant_class",
    "class_name",
    "segment",
    "dims_key",
    "action",
    "route",
    "reason",
    "manifest",
    "outcome",
    "policy_valid",
    "schema_valid",
)
_MOMENTS = ("day", "id", "arrived_at", "populations", "deadline_ms")
_FIGURES = {
    "admission_ms": ">f8",
    "first_token_ms": ">f8",
    "max_gap_ms": ">f8",
    "completion_ms": ">f8",
    "input_tokens": ">i4",
    "cached_input_tokens": ">i4",
    "max_output_tokens": ">i4",
    "output_tokens": ">i4",
}
_AMOUNTS = ("teu", "cost_usd")
_TEXTS = ("request_id", "tenant", "attempt_ids", "decision", "attempts")
COLUMNS = (*_WORDS, *_MOMENTS, *_FIGURES, *_AMOUNTS, *_TEXTS)
IDENTITY = ("request_id", "day")
#: A row's id is its batch's with its own place in it.
MOST_IN_A_BATCH = 1 << 20
_DAY_US = 86_400_000_000
_FIELDS = len(COLUMNS).to_bytes(2)


@dataclass
class RowWriter:
    """Writes the rows of one batch; `tally` knows the shapes of its lines."""

    product_pk: int
    batch_pk: int
    tally: Tally
    count: int = 0
    _words: list[bytes] = field(default_factory=list)
    _segments: dict[str, bytes] = field(default_factory=dict)

    def rows(self, lines: Lines, told: Told) -> bytes:
        """One for each line, in their order."""
        for shape in self.tally.shapes[len(self._words) :]:
            self._words.append(_FIELDS + self._written(shape))
        words = map(self._words.__getitem__, told.codes.tolist())
        ids = [one.request_id.encode() for one in lines.requests]
        numbers = self._numbers(lines, told, np.array(list(map(len, ids))))
        return b"".join(chain.from_iterable(zip(words, numbers, ids, *_texts(lines), strict=True)))

    def _numbers(self, lines: Lines, told: Told, sizes: NDArray[np.int64]) -> list[bytes]:
        first = self.batch_pk * MOST_IN_A_BATCH + self.count
        self.count += len(sizes)
        if self.count > MOST_IN_A_BATCH:
            raise ValueError(f"a batch holds {MOST_IN_A_BATCH} records at most")
        columns = [
            Numbers(">i4", told.arrived_us // _DAY_US - binary.DAY_ZERO),
            Numbers(">i8", np.arange(first, first + len(sizes))),
            Numbers(">i8", told.arrived_us - binary.MICROSECOND_ZERO),
            Numbers(">i8", told.populations),
            Numbers(">f8", told.deadline_ms),
        ]
        for name, form in _FIGURES.items():
            values = told.numbers[name]
            columns.append(Numbers(form, values, np.isnan(values)))
        unreserved = [one is None or one.teu is None for one in lines.decisions]
        columns.append(binary.numerics(told.teu, TEU_PARTS.places, np.array(unreserved)))
        columns.append(binary.numerics(told.usd, USD_PARTS.places))
        return binary.numbers(columns, sizes)

    def _written(self, shape: Shape) -> bytes:
        facts = shape.facts
        before = (shape.digest or "", shape.cohort, shape.tenant_class, facts.class_)
        after = (
            facts.action,
            shape.route,
            shape.reason,
            shape.manifest,
            facts.outcome,
        )
        truths = (facts.policy_valid, facts.schema_valid)
        return b"".join(
            (
                binary.bigint(self.product_pk),
                binary.integer(shape.publication),
                *map(binary.text, before),
                self._segment(shape.segment),
                *map(binary.text, after),
                *map(binary.boolean, truths),
            )
        )

    def _segment(self, segment: Mapping[str, str]) -> bytes:
        """As it was sent, and the key of what it is counted under."""
        sent = json.dumps(segment, separators=(",", ":"), ensure_ascii=False)
        if sent not in self._segments:
            counted = segment_key(dict(self.tally.dims_of(segment)))
            self._segments[sent] = binary.text(sent) + binary.text(counted)
        return self._segments[sent]


def _texts(lines: Lines) -> tuple[Iterable[bytes], ...]:
    """What comes after a request's id, piece by piece, each for all lines."""
    return (
        [_tenant(one.tenant or "") for one in lines.requests],
        [binary.texts([one.attempt_id for one in tried]) for tried in lines.attempts],
        map(binary.length, map(len, lines.decided)),
        lines.decided,
        map(binary.length, map(len, lines.tried)),
        lines.tried,
    )


@lru_cache(maxsize=1 << 14)
def _tenant(name: str) -> bytes:
    return binary.text(name)
