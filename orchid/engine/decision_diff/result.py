"""What a decision diff found, as plain values that a page, a table and JSON are made from."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Literal, NamedTuple

from orchid.engine.wire.records import Rejected

Mode = Literal["traffic", "shape"]


class Answer(NamedTuple):
    """What one document does with a request. Without a route nothing serves it."""

    action: str
    route: str
    reason: str


@dataclass(frozen=True, slots=True)
class Example:
    """One request that is decided otherwise, by names alone."""

    request_id: str
    arrived_at: str
    class_: str
    tenant: str
    segment: str
    before: Answer
    after: Answer


@dataclass(frozen=True, slots=True)
class Pair:
    """An answer before, another after, and how many requests go from one to the other."""

    before: Answer
    after: Answer
    n: int


@dataclass(frozen=True, slots=True)
class Part:
    """One segment's or tenant's requests. `changed_action` are those whose action differs."""

    name: str
    n: int
    changed: int
    changed_action: int


@dataclass(frozen=True, slots=True)
class Side:
    """One document over all the requests. Reserved TEU and the completion are predictions."""

    digest: str
    by_action: Mapping[str, int]
    refused_by_reason: Mapping[str, int]
    reserved_teu: Decimal
    predicted_completion_p95_ms: float | None


@dataclass(frozen=True, slots=True)
class Unread:
    """Lines that are no records: how many by code, and the first of them."""

    n: int
    by_code: Mapping[str, int]
    first: tuple[Rejected, ...]


@dataclass(frozen=True, slots=True)
class DecisionDiff:
    """Two documents over the same recorded requests.

    `traffic`: each document has a state of its own, driven by the recorded arrivals. `shape`: every
    request alone on an idle fleet. `changed` counts another action, route or reason; `pairs` holds
    the changed requests alone, the most frequent first.
    """

    mode: Mode
    n: int
    changed: int
    changed_action: int
    pairs: tuple[Pair, ...]
    examples: tuple[Example, ...]
    segments: tuple[Part, ...]
    tenants: tuple[Part, ...]
    before: Side
    after: Side
    first_arrival: str | None
    last_arrival: str | None
    out_of_order: int
    left_out: Mapping[str, int]
    unreadable: Unread

    def as_json(self) -> dict[str, Any]:
        """Plain JSON values: amounts as decimal text, what is unknown null."""
        unread = self.unreadable
        return {
            "schema": "orchid.decision_diff/v1",
            "mode": self.mode,
            "n": self.n,
            "changed": self.changed,
            "changed_action": self.changed_action,
            "pairs": [
                {"before": p.before._asdict(), "after": p.after._asdict(), "n": p.n}
                for p in self.pairs
            ],
            "examples": [_example(one) for one in self.examples],
            "segments": [_part("key", part) for part in self.segments],
            "tenants": [_part("tenant", part) for part in self.tenants],
            "before": _side(self.before),
            "after": _side(self.after),
            "first_arrival": self.first_arrival,
            "last_arrival": self.last_arrival,
            "out_of_order": self.out_of_order,
            "left_out": dict(self.left_out),
            "unreadable": {
                "n": unread.n,
                "by_code": dict(unread.by_code),
                "first": [_rejected(one) for one in unread.first],
            },
        }


def _example(one: Example) -> dict[str, Any]:
    return {
        "request_id": one.request_id,
        "arrived_at": one.arrived_at,
        "class": one.class_,
        "tenant": one.tenant,
        "key": one.segment,
        "before": one.before._asdict(),
        "after": one.after._asdict(),
    }


def _part(name: str, part: Part) -> dict[str, Any]:
    counts = {"n": part.n, "changed": part.changed, "changed_action": part.changed_action}
    return {name: part.name, **counts}


def _side(side: Side) -> dict[str, Any]:
    return {**asdict(side), "reserved_teu": f"{side.reserved_teu:f}"}


def _rejected(one: Rejected) -> dict[str, Any]:
    return {"line": one.line, "code": one.code, "field": one.field, "message": one.message}
