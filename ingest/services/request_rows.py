"""Rows of requests from lines of records.

What a row says in words is the same for all lines of one shape, so it is written once a shape.
"""

import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from ingest.services import binary
from ingest.services.binary import Numbers, numbers
from orchid.engine.rollup import TEU_STEP, USD_STEP
from orchid.engine.segments import segment_key
from orchid.engine.tally import Tally, Told
from orchid.engine.wire.lines import Lines, Shape

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
_TEXTS = ("request_id", "tenant", "teu", "cost_usd", "attempt_ids", "decision", "attempts")
COLUMNS = (*_WORDS, *_MOMENTS, *_FIGURES, *_TEXTS)
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

    def rows(self, lines: Lines, told: Told) -> list[bytes]:
        """One for each line, in their order."""
        for shape in self.tally.shapes[len(self._words) :]:
            self._words.append(_FIELDS + self._written(shape))
        words = [self._words[code] for code in told.codes]
        return [
            b"".join(parts)
            for parts in zip(words, self._numbers(told), *_texts(lines, told), strict=True)
        ]

    def _numbers(self, told: Told) -> list[bytes]:
        count = len(told.codes)
        first = self.batch_pk * MOST_IN_A_BATCH + self.count
        self.count += count
        if self.count > MOST_IN_A_BATCH:
            raise ValueError(f"a batch holds {MOST_IN_A_BATCH} records at most")
        columns = [
            Numbers(">i4", told.arrived_us // _DAY_US - binary.DAY_ZERO),
            Numbers(">i8", np.arange(first, first + count)),
            Numbers(">i8", told.arrived_us - binary.MICROSECOND_ZERO),
            Numbers(">i8", told.populations),
            Numbers(">f8", told.deadline_ms),
        ]
        for name, form in _FIGURES.items():
            values = told.numbers[name]
            columns.append(Numbers(form, values, np.isnan(values)))
        return numbers(columns, count)

    def _written(self, shape: Shape) -> bytes:
        facts = shape.facts
        words = (
            shape.digest or "",
            shape.cohort,
            shape.tenant_class,
            facts.class_,
            _json(shape.segment),
            segment_key(dict(self.tally.dims_of(shape.segment))),
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
                *map(binary.text, words),
                *map(binary.boolean, truths),
            )
        )


def _texts(lines: Lines, told: Told) -> tuple[list[bytes], ...]:
    """The last columns, each for all lines."""
    return (
        [binary.text(one.request_id) for one in lines.requests],
        [_tenant(one.tenant or "") for one in lines.requests],
        [
            binary.NULL if one is None or one.teu is None else _teu(parts)
            for one, parts in zip(lines.decisions, told.teu.tolist(), strict=True)
        ],
        [_usd(parts) for parts in told.usd.tolist()],
        [binary.texts([one.attempt_id for one in tried]) for tried in lines.attempts],
        [_raw(one.decision) for one in lines.requests],
        [_raw(one.attempts) for one in lines.requests],
    )


def _raw(value: Any) -> bytes:
    data = bytes(value)
    return len(data).to_bytes(4) + data


def _json(segment: Any) -> str:
    return json.dumps(segment, separators=(",", ":"), ensure_ascii=False)


@lru_cache(maxsize=1 << 14)
def _tenant(name: str) -> bytes:
    return binary.text(name)


@lru_cache(maxsize=1 << 16)
def _teu(parts: int) -> bytes:
    return binary.numeric(parts * TEU_STEP)


@lru_cache(maxsize=1 << 16)
def _usd(parts: int) -> bytes:
    return binary.numeric(parts * USD_STEP)
