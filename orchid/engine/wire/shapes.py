"""Shapes: what records say in words, of which a fleet has few combinations.

A combination is checked strictly, and its facts are found, when it is first met.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from orchid.engine.outcome import facts_of, served_manifest, served_route
from orchid.engine.standing import Facts
from orchid.engine.wire.loose import ATTEMPT_WORDS, DECISION_WORDS, REQUEST_WORDS
from orchid.engine.wire.records import RequestRecord, parse_record

#: Distinct combinations that are remembered; past it all are forgotten and met anew.
MOST_SHAPES = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What a record says in words of vocabularies. Each object stands for itself alone."""

    facts: Facts
    product: str
    digest: str | None
    publication: int | None
    cohort: str
    tenant_class: str
    segment: Mapping[str, str]
    reason: str
    route: str
    manifest: str
    class_: str
    in_rollup: bool


def shapes_of(
    block: bytes,
    requests: Sequence[Any],
    decisions: Sequence[Any],
    attempts: Sequence[tuple[Any, ...]],
) -> list[Shape]:
    """The shape of each line of a block; RecordError for one that a strict reader refuses."""
    keys = list(map(_key_of, requests, decisions, attempts))
    found: list[Any] = list(map(_shapes.get, keys))
    if None in found:
        lines = block.split(b"\n")
        for place, shape in enumerate(found):
            if shape is None:
                found[place] = _met(keys[place], lines[place])
    return found


def _key_of(request: Any, decision: Any, attempts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Objects of short lists are always the same ones; the rest is a single run of bytes."""
    listed, words = _listed_of(request), _words_of_request(request)
    if decision is not None:
        listed += (decision.action,)
        words += _words_of_decision(decision)
    for one in attempts:
        unpaid = one.cost_usd is None and one.external_usd is None
        listed += (unpaid, not one.external_calls)
        words += _words_of_attempt(one)
    return listed, b"|".join(words)


def _met(key: Any, line: bytes) -> Shape:
    known = _shapes.get(key)
    if known is None:
        if len(_shapes) > MOST_SHAPES:
            _shapes.clear()
        known = _shapes[key] = shape_of(parse_record(line))
    return known


def shape_of(record: RequestRecord) -> Shape:
    """The shape of a record."""
    return Shape(
        facts_of(record),
        record.product,
        record.digest,
        record.publication,
        record.cohort,
        record.tenant_class or "",
        record.segment,
        (record.decision and record.decision.reason) or "",
        served_route(record),
        served_manifest(record),
        record.class_,
        record.in_rollup,
    )


_listed_of = attrgetter(
    "outcome", "cohort", "publication", "eligible", "policy_valid", "schema_valid", "in_rollup"
)
_words_of_request = attrgetter(*REQUEST_WORDS)
_words_of_decision = attrgetter(*DECISION_WORDS)
_words_of_attempt = attrgetter(*ATTEMPT_WORDS)
_shapes: dict[Any, Shape] = {}
