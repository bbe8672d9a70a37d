"""Request records as a busy edge sends them, and the same as 32 ready columns: drawn from a seed.

200 segments, three routes, 100 tenants by Zipf's law, an attempt with its timings for each request
that was admitted, one in twenty with an unhappy end. A line has about 1,150 bytes, its columns 620.
"""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate, product

from orchid.engine.document.canonical import digest_of_document, manifest_digest
from orchid.engine.document.model import PolicyDocument

PER_S = 325
TENANTS = 100
ROUTES, ROUTE_ODDS = ("full", "compact", "premium"), (60, 90, 100)
OUTCOMES = ("completed", "timed_out", "cancelled", "rejected", "failed")
OUTCOME_ODDS = (950, 965, 980, 990, 1000)
DIMENSIONS = {
    "input_bucket": ("0-512", "513-2048", "2049-8192", "8193-32768", "32769+"),
    "language": ("en", "de", "fr", "ja", "pt"),
    "task": ("assistant", "structured_extraction", "drafting", "classification"),
    "tenant_class": ("standard", "premium"),
}

TIMES = ("start_ms", "queue_ms", "prefill_ms", "decode_ms", "useful_tokens", "released_ms")

#: The columns of a plain table that holds a record as any tool would, with their types.
PLAIN = {
    "request_id": "text",
    "arrived_at": "timestamptz",
    "edge": "text",
    "publication": "integer",
    "digest": "text",
    "cohort": "text",
    "tenant": "text",
    "tenant_class": "text",
    "class": "text",
    "segment": "text",
    "outcome": "text",
    "deadline_ms": "double precision",
    "admission_ms": "double precision",
    "first_token_ms": "double precision",
    "max_gap_ms": "double precision",
    "completion_ms": "double precision",
    "input_tokens": "integer",
    "max_output_tokens": "integer",
    "output_tokens": "integer",
    "action": "text",
    "route": "text",
    "reason": "text",
    "teu": "numeric",
    "policy_valid": "boolean",
    "schema_valid": "boolean",
    "attempt_id": "text",
    "manifest": "text",
    "replica": "text",
    "start_ms": "double precision",
    "queue_ms": "double precision",
    "decode_ms": "double precision",
    "attempt_times": "text",
}


@dataclass(frozen=True)
class Sent:
    """One request: the line that its edge sends, and its fields as a row of `PLAIN` in text."""

    line: str
    row: str


class Traffic:
    """An endless stream of requests, the same for one seed."""

    def __init__(self, document: PolicyDocument, begin: datetime, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 (a seeded benchmark)
        self.begin, self.seconds = begin, 0.0
        self.product, self.digest = document.product, digest_of_document(document)
        self.manifests = {name: manifest_digest(model) for name, model in document.models.items()}
        self.segments = [
            (dict(zip(DIMENSIONS, values, strict=True)), classes)
            for values, classes in zip(
                product(*DIMENSIONS.values()), _classes(document), strict=False
            )
        ]
        self.zipf = list(accumulate(1.0 / number for number in range(1, TENANTS + 1)))
        self.tenants = [f"tenant-{number}" for number in range(1, TENANTS + 1)]

    def take(self, count: int) -> list[Sent]:
        """The next requests."""
        return [self._next() for _ in range(count)]

    def _next(self) -> Sent:
        dice = self.dice
        self.seconds += dice.expovariate(PER_S)
        segment, class_ = dice.choice(self.segments)
        outcome = dice.choices(OUTCOMES, cum_weights=OUTCOME_ODDS)[0]
        route = dice.choices(ROUTES, cum_weights=ROUTE_ODDS)[0]
        tokens, answer = int(dice.lognormvariate(6.5, 0.8)), int(dice.lognormvariate(4.5, 0.6)) + 1
        ids = f"{dice.getrandbits(128):032x}", f"{dice.getrandbits(128):032x}"
        took = dice.lognormvariate(5.8, 0.6)
        arrived = (self.begin + timedelta(seconds=self.seconds)).isoformat(timespec="microseconds")
        fields: dict[str, str | None] = {
            "request_id": _text(ids[0]),
            "product": _text(self.product),
            "arrived_at": _text(arrived.replace("+00:00", "Z")),
            "outcome": _text(outcome),
            "class": _text(class_),
            "schema": _text("orchid.request/v1"),
            "edge": _text("edge-1"),
            "publication": "1",
            "digest": _text(self.digest),
            "tenant": _text(dice.choices(self.tenants, cum_weights=self.zipf)[0]),
            "tenant_class": _text(segment["tenant_class"]),
            "segment": _object({name: _text(value) for name, value in segment.items()}),
            "deadline_ms": "1500.0",
            "admission_ms": "0.213",
        }
        answered, admitted = outcome == "completed", outcome != "rejected"
        if answered:
            fields |= {
                "first_token_ms": f"{took * 0.2:.3f}",
                "max_gap_ms": f"{took * 0.05:.3f}",
                "completion_ms": f"{took:.3f}",
            }
        teu = f"{tokens * 0.12 + answer:.4f}".rstrip("0").rstrip(".")
        decision: dict[str, str | None] = {
            "action": _text("admit" if admitted else "reject"),
            "route": _text(route),
            "reason": _text("requested" if admitted else "share_exhausted"),
            "teu": _text(teu),
            "live_tokens": str(tokens + 2 * answer),
            "completion_ms": f"{took:.3f}",
        }
        fields |= {
            "eligible": "true",
            "input_tokens": str(tokens),
            "max_output_tokens": str(2 * answer),
            "output_tokens": str(answer) if answered else "0",
            "decision": _object(decision),
            "load_state": _text("normal"),
        }
        if answered:
            fields |= {"policy_valid": "true", "schema_valid": "true"}
        fields["released"] = "true"
        attempt: dict[str, str | None] = {}
        if admitted:
            attempt = {
                "attempt_id": _text(ids[1]),
                "route": _text(route),
                "model": _text(route),
                "manifest": _text(self.manifests[route]),
                "replica": _text(f"replica-{dice.randrange(30)}"),
                "status": _text(outcome),
                "start_ms": "0.3",
                "queue_ms": f"{took * 0.02:.3f}",
                "prefill_ms": f"{took * 0.18:.3f}",
                "decode_ms": f"{took * 0.8:.3f}",
                "useful_tokens": str(answer),
                "teu_observed": _text(teu),
                "released_ms": f"{took + 1:.3f}",
            }
            fields["attempts"] = f"[{_object(attempt)}]"
        times = {name: attempt[name] for name in TIMES if name in attempt}
        told = {**attempt, **decision, **fields, "cohort": _text("incumbent")}
        told["attempt_times"] = _object(times)
        row = "\t".join(_plain(told.get(name)) for name in PLAIN)
        return Sent(_object(fields), row)


def _classes(document: PolicyDocument) -> Iterator[str]:
    names = list(document.classes)
    return (
        names[number % len(names)] for number in range(math.prod(map(len, DIMENSIONS.values())))
    )


def _text(value: str) -> str:
    return f'"{value}"'


def _object(fields: dict[str, str | None]) -> str:
    return "{" + ",".join(f'"{name}":{value}' for name, value in fields.items()) + "}"


def _plain(value: str | None) -> str:
    if value is None:
        return "\\N"
    return value[1:-1] if value.startswith('"') else value


def minutes_ago(minutes: int) -> datetime:
    """A recent moment on a day that still lasts: rows of one run lie in few partitions."""
    return datetime.now(UTC) - timedelta(minutes=minutes)
