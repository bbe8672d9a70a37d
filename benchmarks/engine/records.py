"""Recorded requests as an edge would have written them: a document's mix, drawn from a seed.

Poisson arrivals at the declared rates, lengths spread around each class's declared shape, Zipf
tenants, most answers well under their cap, and a few of every unhappy end. Records come in the
order of their ends, which is how an edge sends them.
"""

import heapq
import math
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path

from msgspec.structs import replace

from orchid.engine.document.canonical import digest_of_document, manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.pricing import teu
from orchid.engine.segments import fallbacks_for, segment_of
from orchid.engine.timing import deadline_ms, service_ms
from orchid.engine.wire.fields import Outcome
from orchid.engine.wire.records import (
    AttemptRecord,
    DecisionRecord,
    RequestRecord,
    encode_record,
)

BEGIN = datetime(2026, 3, 2, 9, tzinfo=UTC)
TENANTS = 100
FALLBACK_SHARE = 0.12
OUTCOMES: tuple[Outcome, ...] = (
    "completed",
    "timed_out",
    "cancelled",
    "rejected",
    "failed",
    "truncated",
)
OUTCOME_ODDS = list(accumulate((955, 15, 12, 8, 6, 4)))


def recorded_requests(
    n: int, document: PolicyDocument, seed: int, *, load: float = 1.0
) -> Iterator[RequestRecord]:
    """`n` records, the same for the same arguments; `load` multiplies the declared arrivals."""
    drawn = _Traffic(document, random.Random(seed), load)  # noqa: S311 (a seeded benchmark)
    open_until: list[tuple[float, int, RequestRecord]] = []
    for number in range(n):
        record = drawn.next(number)
        while open_until and open_until[0][0] <= drawn.now_ms:
            yield heapq.heappop(open_until)[2]
        heapq.heappush(open_until, (drawn.now_ms + _took_ms(record), number, record))
    while open_until:
        yield heapq.heappop(open_until)[2]


def write_ndjson(path: Path, n: int, document: PolicyDocument, seed: int) -> None:
    """The records as a file, one a line."""
    with path.open("wb") as file:
        for record in recorded_requests(n, document, seed):
            file.write(encode_record(record) + b"\n")


def _took_ms(record: RequestRecord) -> float:
    return (record.attempts[0].released_ms or 0.0) if record.attempts else 1.0


class _Traffic:
    """The stream of arrivals: one clock, one source of chance."""

    def __init__(self, document: PolicyDocument, dice: random.Random, load: float) -> None:
        self.document, self.dice, self.now_ms = document, dice, 0.0
        self.digest = digest_of_document(document)
        self.manifests = {name: manifest_digest(model) for name, model in document.models.items()}
        rates = [float(traffic.arrivals_per_s) for traffic in document.classes.values()]
        self.classes, self.rates = list(document.classes), list(accumulate(rates))
        self.per_ms = sum(rates) * load / 1000.0
        self.tenants = [f"tenant-{number}" for number in range(1, TENANTS + 1)]
        self.zipf = list(accumulate(1.0 / number for number in range(1, TENANTS + 1)))
        self.fallbacks: dict[tuple[str, tuple[str, ...]], list[str]] = {}

    def next(self, number: int) -> RequestRecord:
        """The next arrival, whole."""
        dice = self.dice
        self.now_ms += dice.expovariate(self.per_ms)
        name = dice.choices(self.classes, cum_weights=self.rates)[0]
        outcome = dice.choices(OUTCOMES, cum_weights=OUTCOME_ODDS)[0]
        declared = self.document.classes[name]
        cap = declared.max_output_tokens
        length = max(8, round(declared.input_tokens * dice.lognormvariate(-0.08, 0.4)))
        length = min(length, self.document.admission.live_tokens.per_request - cap)
        segment = segment_of(self.document, name, length, cap, {})
        decision = self._decided(declared.model, segment, length, cap, outcome)
        request = RequestRecord(
            schema="orchid.request/v1",
            request_id=f"req-{number:08d}",
            product=self.document.product,
            edge="edge-1",
            publication=1,
            digest=self.digest,
            tenant=dice.choices(self.tenants, cum_weights=self.zipf)[0],
            tenant_class=segment.get("tenant_class"),
            class_=name,
            segment=segment,
            arrived_at=BEGIN + timedelta(milliseconds=round(self.now_ms, 3)),
            deadline_ms=float(deadline_ms(self.document, name)),
            admission_ms=0.2,
            eligible=True,
            input_tokens=length,
            max_output_tokens=cap,
            load_state="normal",
            outcome=outcome,
            decision=decision,
        )
        if outcome == "rejected":
            return request
        used = max(1, min(cap, round(cap * dice.betavariate(3, 2))))
        return self._served(request, decision.route or "", used)

    def _decided(
        self, route: str, segment: dict[str, str], length: int, cap: int, outcome: Outcome
    ) -> DecisionRecord:
        """What the recorded generation's admission answered."""
        if outcome == "rejected":
            return DecisionRecord(action="reject", route=route, reason="share_exhausted")
        fallbacks = self._fallbacks(route, segment)
        falls = bool(fallbacks) and self.dice.random() < FALLBACK_SHARE
        route = fallbacks[0] if falls else route
        return DecisionRecord(
            action="fallback" if falls else "admit",
            route=route,
            reason="fallback_needed" if falls else "requested",
            teu=teu(self.document.demand, route, length, cap),
            live_tokens=length + cap,
            output_tokens=cap,
        )

    def _fallbacks(self, route: str, segment: dict[str, str]) -> list[str]:
        key = (route, tuple(segment.values()))
        if key not in self.fallbacks:
            self.fallbacks[key] = fallbacks_for(self.document, route, segment)
        return self.fallbacks[key]

    def _served(self, request: RequestRecord, route: str, used: int) -> RequestRecord:
        """What became of an admitted request: its clocks, its attempt, its validity."""
        timing, dice = self.document.models[route].timing, self.dice
        alone_ms = service_ms(timing, request.input_tokens or 0, used) if timing else 100.0
        took_ms = alone_ms * dice.lognormvariate(0.05, 0.15) + dice.expovariate(0.1)
        if request.outcome == "timed_out":
            took_ms = (request.deadline_ms or took_ms) + 5.0
        answered = request.outcome == "completed"
        first_ms = took_ms * dice.uniform(0.1, 0.3)
        gap_ms = (took_ms - first_ms) / used * dice.uniform(1.2, 4.0)
        ended_ms = round(took_ms, 3)
        attempt = AttemptRecord(
            attempt_id=f"{request.request_id}.1",
            route=route,
            pool=self.document.fleet.pool,
            model=route,
            manifest=self.manifests[route],
            replica=f"replica-{dice.randrange(self.document.fleet.devices)}",
            status=request.outcome,  # type: ignore[arg-type]  # a served one is no refusal
            start_ms=0.2,
            accelerator_ms=round(alone_ms, 3),
            useful_tokens=used,
            teu_predicted=request.decision.teu if request.decision else None,
            teu_observed=teu(self.document.demand, route, request.input_tokens or 0, used),
            released_ms=round(ended_ms + 1.0, 3),
        )
        return replace(
            request,
            output_tokens=used if answered else math.ceil(used / 2),
            first_token_ms=round(first_ms, 3) if answered else None,
            max_gap_ms=round(gap_ms, 3) if answered and used > 1 else None,
            completion_ms=ended_ms if answered else None,
            policy_valid=True if answered else None,
            schema_valid=dice.random() > 0.0005 if answered else None,
            released=True,
            attempts=(attempt,),
        )
