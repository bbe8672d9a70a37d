"""What one finished request counts as. The only place where a population is defined.

Every figure whose denominator is a number of requests counts these populations, so that a late,
invalid, refused or wrongly routed response can't improve one figure by leaving another.

A record falls into two parts: facts, which `standing.py` judges by the document, and clocks, which
`clocks.py` compares. A single record (here) and columns of them (`columns.py`) go through both
alike, which is why they can't disagree.

Evidence coverage is not decided here: it changes after the request is over, so the gates apply it
when they evaluate (`technical_success` times coverage is success).
"""

import math
from collections.abc import Iterable
from decimal import Decimal

from orchid.engine.clocks import LatencyBound, clocks_of, has_gaps, in_time, keeps
from orchid.engine.document.model import PolicyDocument
from orchid.engine.priced_by_table import table_usd, untold_places
from orchid.engine.standing import Facts, standing_of
from orchid.engine.wire.records import AttemptRecord, RequestRecord

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
    "safely_served",
    "violation",
    "latency_counted",
    "inter_token_counted",
    "unpriced",
    "manifest_mismatch",
    "validator_stopped",
    "escalated",
)


#: The same as bits of one number, as rows keep them: names are appended above, never moved.
BIT_OF = {name: 1 << place for place, name in enumerate(COUNTERS)}


def bits_of(names: Iterable[str]) -> int:
    """Populations as one number."""
    return sum(BIT_OF[name] for name in names)


def names_of(bits: int) -> frozenset[str]:
    """The populations that a number of `bits_of` holds."""
    return frozenset(name for name, bit in BIT_OF.items() if bits & bit)


def populations(record: RequestRecord, document: PolicyDocument) -> frozenset[str]:
    """The populations that the request belongs to, a subset of COUNTERS."""
    standing, at = standing_of(facts_of(record), document), clocks_of(record)
    found = standing.always
    if in_time(at, standing.deadline_ms):
        found |= standing.if_in_time
    if has_gaps(at):
        found |= standing.if_gaps
    if not document.prices.keys().isdisjoint(untold_places(record)):
        found |= {"unpriced"}
    return found


def latency_ms(record: RequestRecord, document: PolicyDocument) -> float | None:
    """The completion time that the latency gate counts, in milliseconds; None when not counted.

    Infinity for admitted requests that ended without a whole response (timed out, failed, lost,
    truncated): they rank behind every completion. Client cancellations stay apart; rejections and
    deferrals are attainment's matter.
    """
    standing = standing_of(facts_of(record), document)
    if not standing.latency_counted:
        return None
    known = standing.delivered and record.completion_ms is not None
    return record.completion_ms if known else math.inf


def within(
    record: RequestRecord, document: PolicyDocument, bounds: Iterable[LatencyBound]
) -> frozenset[str]:
    """The keys of those bounds that the request kept; empty when latency does not count it."""
    standing, at = standing_of(facts_of(record), document), clocks_of(record)
    if not (standing.latency_counted and standing.delivered):
        return frozenset()
    return frozenset(bound.key for bound in bounds if keeps(at, bound))


def priced_usd(record: RequestRecord, document: PolicyDocument) -> Decimal:
    """Dollars that the attempts state themselves, and of the others what the price table says.

    What the fleet costs is the ledger's matter.
    """
    stated = (a.external_usd if a.cost_usd is None else a.cost_usd for a in record.attempts)
    by_table = table_usd(record, record.attempts, document.prices) or Decimal(0)
    return sum((usd for usd in stated if usd is not None), by_table)


def facts_of(record: RequestRecord) -> Facts:
    """The facts of one record."""
    return Facts(
        record.outcome,
        record.eligible,
        record.class_,
        tuple(sorted(record.segment.items())),
        record.decision.action if record.decision is not None else "",
        served_route(record),
        served_manifest(record),
        record.policy_valid,
        record.schema_valid,
        frozenset(_unpaid(attempt) for attempt in record.attempts if not _is_priced(attempt)),
        frozenset(attempt.route for attempt in record.attempts if attempt.route),
    )


def served_route(record: RequestRecord) -> str:
    """The route that answered, else the one admission chose; empty when none was chosen."""
    if record.attempts and record.attempts[-1].route:
        return record.attempts[-1].route
    return (record.decision.route or "") if record.decision is not None else ""


def served_manifest(record: RequestRecord) -> str:
    """The manifest digest that the last attempt ran under; empty when it is not known."""
    return (record.attempts[-1].manifest or "") if record.attempts else ""


def _is_priced(attempt: AttemptRecord) -> bool:
    return attempt.cost_usd is not None or attempt.external_usd is not None


def _unpaid(attempt: AttemptRecord) -> tuple[str, bool]:
    return attempt.route or attempt.model or "", bool(attempt.external_calls)
