"""What one finished request counts as. The only place where a population is defined.

Every figure whose denominator is a number of requests counts these populations, so that a late,
invalid, refused or wrongly routed response can't improve one figure by leaving another.
Evidence coverage is not decided here: it changes after the request is over, so the gates apply it
when they evaluate (`technical_success` times coverage is success).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import fallbacks_for, matches
from orchid.engine.timing import deadline_ms
from orchid.engine.wire.records import AttemptRecord, RequestRecord

ADMITTING_ACTIONS = frozenset({"admit", "fallback", "bound"})
DELIVERED_OUTCOMES = frozenset({"completed", "bounded", "early_terminated"})
#: Outcomes that only count as a complete answer where the contract accepts the rung.
CONDITIONAL_OUTCOMES = frozenset({"bounded", "early_terminated"})
#: Routes without a generated text; successes only where the contract accepts them.
CONDITIONAL_ROUTES = frozenset({"retrieval_only", "cached"})

COUNTERS: tuple[str, ...] = (
    "offered",
    "eligible",
    "ineligible",
    "admitted",
    "rejected",
    "deferred",
    "cancelled",
    "timed_out",
    "failed",
    "truncated",
    "lost",
    "fallback",
    "bounded",
    "early_terminated",
    "completed",
    "policy_valid",
    "deadline_valid",
    "technical_success",
    "violation",
    "latency_counted",
    "unpriced",
    "manifest_mismatch",
)

_COUNTED_OUTCOMES = frozenset(
    {"cancelled", "timed_out", "failed", "truncated", "lost", "bounded", "early_terminated"}
)


@dataclass(frozen=True, slots=True)
class LatencyBound:
    """A bound whose exact share the rollups count: a clock of the contract and milliseconds."""

    clock: str
    max_ms: float

    @property
    def key(self) -> str:
        """The name of the counter in a rollup's `within`, such as `completion<=1500`."""
        return f"{self.clock}<={self.max_ms:g}"


def latency_bounds(document: PolicyDocument) -> tuple[LatencyBound, ...]:
    """The bounds that the document's latency gates need counted exactly."""
    gates = document.gates
    bounds = [LatencyBound("completion", float(gates.completion_p95_ms.max))]
    if gates.first_token_p95_ms is not None:
        bounds.append(LatencyBound("first_token", float(gates.first_token_p95_ms.max)))
    return tuple(bounds)


def populations(record: RequestRecord, document: PolicyDocument) -> frozenset[str]:
    """The populations that the request belongs to, a subset of COUNTERS.

    An ineligible request is offered and ineligible, and in no denominator: only its outcome's own
    name, its violation and its price still show.
    """
    found = {"offered", "eligible" if is_eligible(record, document) else "ineligible"}
    found |= {record.outcome} & _COUNTED_OUTCOMES
    found |= _by_decision(record)
    if is_violation(record):
        found.add("violation")
    if has_unknown_price(record, document):
        found.add("unpriced")
    if _mismatched(record, document):
        found.add("manifest_mismatch")
    if "eligible" in found:
        found |= _by_result(record, document)
    return frozenset(found)


def is_eligible(record: RequestRecord, document: PolicyDocument) -> bool:
    """Whether the contract's population covers the request; the edge's own word wins."""
    if record.eligible is not None:
        return record.eligible
    return matches(document.contract.eligible, record.segment)


def is_admitted(record: RequestRecord) -> bool:
    """Whether admission took the request on, whole, by fallback or bounded."""
    return record.decision is not None and record.decision.action in ADMITTING_ACTIONS


def is_delivered(record: RequestRecord) -> bool:
    """Whether a response was handed over as a whole one: never a truncated or cut one."""
    return record.outcome in DELIVERED_OUTCOMES


def is_violation(record: RequestRecord) -> bool:
    """A response delivered as complete although policy or schema validation said no.

    Unknown is neither a violation nor a success, and a response that the validator stopped was
    never delivered.
    """
    return is_delivered(record) and (record.policy_valid is False or record.schema_valid is False)


def has_unknown_price(record: RequestRecord, document: PolicyDocument) -> bool:
    """Whether an attempt outside the generation's own fleet has no known price.

    Own devices are paid by the ledger, so their attempts need no price of their own.
    """
    return any(_is_unpriced(attempt, document) for attempt in record.attempts)


def priced_usd(record: RequestRecord) -> Decimal:
    """Dollars stated by the attempts themselves; what the fleet costs is the ledger's matter."""
    stated = (a.external_usd if a.cost_usd is None else a.cost_usd for a in record.attempts)
    return sum((usd for usd in stated if usd is not None), Decimal(0))


def latency_ms(record: RequestRecord, document: PolicyDocument) -> float | None:
    """The completion time that the latency gate counts, in milliseconds; None when not counted.

    Infinity for admitted requests that ended without a whole response (timed out, failed, lost,
    truncated): they rank behind every completion. Client cancellations stay apart; rejections and
    deferrals are attainment's matter.
    """
    if not _counts_for_latency(record, document):
        return None
    return _clock_ms(record, "completion")


def within(
    record: RequestRecord, document: PolicyDocument, bounds: Iterable[LatencyBound]
) -> frozenset[str]:
    """The keys of those bounds that the request kept; empty when latency does not count it."""
    if not _counts_for_latency(record, document):
        return frozenset()
    return frozenset(
        bound.key for bound in bounds if _clock_ms(record, bound.clock) <= bound.max_ms
    )


def served_route(record: RequestRecord) -> str:
    """The route that answered, else the one admission chose; empty when none was chosen."""
    if record.attempts and record.attempts[-1].route:
        return record.attempts[-1].route
    return (record.decision.route or "") if record.decision is not None else ""


def served_manifest(record: RequestRecord) -> str:
    """The manifest digest that the last attempt ran under; empty when it is not known."""
    return (record.attempts[-1].manifest or "") if record.attempts else ""


def deadline_of(record: RequestRecord, document: PolicyDocument) -> float:
    """The request's deadline in milliseconds: its class's, or the contract's, or its own if sooner.

    A caller may be in more of a hurry than the contract; patience of its own makes no late answer
    a success.
    """
    declared = float(deadline_ms(document, record.class_))
    return declared if record.deadline_ms is None else min(record.deadline_ms, declared)


def _by_decision(record: RequestRecord) -> set[str]:
    action = record.decision.action if record.decision is not None else ""
    found = {"admitted"} if is_admitted(record) else set()
    if action == "reject" or record.outcome == "rejected":
        found.add("rejected")
    if action == "defer" or record.outcome == "deferred":
        found.add("deferred")
    if action == "fallback":
        found.add("fallback")
    return found


def _by_result(record: RequestRecord, document: PolicyDocument) -> set[str]:
    found = set()
    if _counts_for_latency(record, document):
        found.add("latency_counted")
    if record.outcome == "completed":
        found.add("completed")
    if is_delivered(record) and record.policy_valid is True and record.schema_valid is True:
        found.add("policy_valid")
    if is_delivered(record) and _clock_ms(record, "completion") <= deadline_of(record, document):
        found.add("deadline_valid")
    if {"policy_valid", "deadline_valid"} <= found and _is_sound(record, document):
        found.add("technical_success")
    return found


def _is_sound(record: RequestRecord, document: PolicyDocument) -> bool:
    """The rules of a success that are about how the response came to be."""
    return (
        is_admitted(record)
        and _is_whole(record, document)
        and _route_is_allowed(record, document)
        and _ran_under_the_manifest(record, document)
    )


def _is_whole(record: RequestRecord, document: PolicyDocument) -> bool:
    if record.outcome in CONDITIONAL_OUTCOMES:
        return record.outcome in document.contract.accepts
    return record.outcome == "completed"


def _route_is_allowed(record: RequestRecord, document: PolicyDocument) -> bool:
    """The class's own route, one that its segment may fall back to, or an accepted rung."""
    route = served_route(record)
    if route in CONDITIONAL_ROUTES:
        return route in document.contract.accepts
    declared = document.classes.get(record.class_ or "")
    if declared is None:
        return False
    if route == declared.model:
        return True
    return route in fallbacks_for(document, declared.model, record.segment)


def _ran_under_the_manifest(record: RequestRecord, document: PolicyDocument) -> bool:
    if served_route(record) in CONDITIONAL_ROUTES:
        return True
    model = document.models.get(served_route(record))
    return model is not None and served_manifest(record) == manifest_digest(model)


def _mismatched(record: RequestRecord, document: PolicyDocument) -> bool:
    """A manifest was stated and it is not the generation's; an unstated one is only unknown."""
    model = document.models.get(served_route(record))
    stated = served_manifest(record)
    return bool(stated) and model is not None and stated != manifest_digest(model)


def _counts_for_latency(record: RequestRecord, document: PolicyDocument) -> bool:
    apart = record.outcome in {"cancelled", "rejected", "deferred"}
    return is_admitted(record) and not apart and is_eligible(record, document)


def _clock_ms(record: RequestRecord, clock: str) -> float:
    """The named clock of a delivered response; infinity when it was not delivered or not read."""
    if not is_delivered(record):
        return math.inf
    value = record.first_token_ms if clock == "first_token" else record.completion_ms
    return math.inf if value is None else value


def _is_unpriced(attempt: AttemptRecord, document: PolicyDocument) -> bool:
    owned = (attempt.route or attempt.model) in {*document.models, *CONDITIONAL_ROUTES}
    outside = bool(attempt.external_calls) or not owned
    return outside and attempt.cost_usd is None and attempt.external_usd is None
