"""How a document judges what a record says in words: admitted, valid, sound, a violation, unpriced.

Facts come from small vocabularies, so a million records have few distinct ones, and each needs to
be judged once. What also depends on a clock is left open here, under the name of the condition.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.quality import MODELLESS_ROUTES
from orchid.engine.early_stop import early_stop_of
from orchid.engine.pricing import pad_of
from orchid.engine.routing import route_for
from orchid.engine.segments import INPUT_BUCKET, OUTPUT_BUCKET, fallbacks_for, matches
from orchid.engine.timing import deadline_ms

ADMITTING_ACTIONS = frozenset({"admit", "fallback", "bound"})
DELIVERED_OUTCOMES = frozenset({"completed", "bounded", "early_terminated"})
#: Outcomes that only count as a complete answer where the contract accepts the rung.
CONDITIONAL_OUTCOMES = frozenset({"bounded", "early_terminated"})

_COUNTED_OUTCOMES = frozenset(
    {"cancelled", "timed_out", "failed", "truncated", "lost", "bounded", "early_terminated"}
)


class Facts(NamedTuple):
    """What a record says in words of bounded vocabularies; equal facts have equal standing."""

    outcome: str
    eligible: bool | None
    class_: str
    segment: tuple[tuple[str, str], ...]
    action: str
    route: str
    manifest: str
    policy_valid: bool | None
    schema_valid: bool | None
    unpaid: frozenset[tuple[str, bool]]
    """Where attempts without a price ran, and whether they called outside."""
    tried: frozenset[str] = frozenset()
    """The routes of its attempts, the one that answered among them."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a document makes of facts: populations by what they still depend on."""

    always: frozenset[str]
    if_in_time: frozenset[str]
    if_gaps: frozenset[str]
    """Joined by a response of more than one token."""
    delivered: bool
    latency_counted: bool
    deadline_ms: float
    """The declared one; the caller's own is a clock."""


def standing_of(facts: Facts, document: PolicyDocument) -> Standing:
    """The facts as the document judges them.

    An ineligible request is offered and ineligible, and in no denominator: only its outcome's own
    name, its violation and its price still show.
    """
    eligible, delivered = is_eligible(facts, document), is_delivered(facts)
    counted = eligible and _counts_for_latency(facts)
    always = {"offered", "eligible" if eligible else "ineligible"} | _in_any_case(facts, document)
    punctual: set[str] = set()
    if eligible:
        sound = _is_sound(facts, document)
        always |= _by_result(facts, counted=counted, sound=sound)
        punctual = _if_punctual(facts, sound=sound)
    gaps = {"inter_token_counted"} if counted else set()
    return Standing(
        frozenset(always if delivered else always | gaps),
        frozenset(punctual),
        frozenset(gaps if delivered else ()),
        delivered,
        counted,
        float(deadline_ms(document, facts.class_)),
    )


def is_eligible(facts: Facts, document: PolicyDocument) -> bool:
    """Whether the contract's population covers the request; the edge's own word wins."""
    if facts.eligible is not None:
        return facts.eligible
    return matches(document.contract.eligible, dict(facts.segment))


def is_admitted(facts: Facts) -> bool:
    """Whether admission took the request on, whole, by fallback or bounded."""
    return facts.action in ADMITTING_ACTIONS


def is_delivered(facts: Facts) -> bool:
    """Whether a response was handed over as a whole one: never a truncated or cut one."""
    return facts.outcome in DELIVERED_OUTCOMES


def is_violation(facts: Facts) -> bool:
    """A response delivered as complete although policy or schema validation said no.

    Unknown is neither a violation nor a success, and a response that the validator stopped was
    never delivered.
    """
    return is_delivered(facts) and (facts.policy_valid is False or facts.schema_valid is False)


def is_stopped_by_validator(facts: Facts) -> bool:
    """An answer that validation refused before anybody saw it: a failed attempt, no violation."""
    invalid = facts.policy_valid is False or facts.schema_valid is False
    return invalid and not is_delivered(facts)


def is_escalated(facts: Facts, document: PolicyDocument) -> bool:
    """Whether a cascade's small route was asked and its large one answered."""
    cascade = document.routing.cascade
    return cascade is not None and cascade.small in facts.tried and facts.route == cascade.large


def has_unknown_price(facts: Facts, document: PolicyDocument) -> bool:
    """Whether an attempt outside the generation's own fleet has no known price.

    Own devices are paid by the ledger, so their attempts need no price of their own; what runs at a
    priced route is priced by its tokens (`priced_by_table.py`).
    """
    paid = {*document.models, *MODELLESS_ROUTES, *document.prices}
    return any(outside or place not in paid for place, outside in facts.unpaid)


def _in_any_case(facts: Facts, document: PolicyDocument) -> set[str]:
    """Populations that an ineligible request is counted in as well."""
    found = ({facts.outcome} & _COUNTED_OUTCOMES) | _by_decision(facts)
    if is_violation(facts):
        found.add("violation")
    if is_stopped_by_validator(facts):
        found.add("validator_stopped")
    if is_escalated(facts, document):
        found.add("escalated")
    if has_unknown_price(facts, document):
        found.add("unpriced")
    if _mismatched(facts, document):
        found.add("manifest_mismatch")
    return found


def _by_decision(facts: Facts) -> set[str]:
    found = {"admitted"} if is_admitted(facts) else set()
    if facts.action == "reject" or facts.outcome == "rejected":
        found.add("rejected")
    if facts.action == "defer" or facts.outcome == "deferred":
        found.add("deferred")
    if facts.action == "fallback":
        found.add("fallback")
    return found


def _by_result(facts: Facts, *, counted: bool, sound: bool) -> set[str]:
    found = {"latency_counted"} if counted else set()
    if facts.outcome == "completed":
        found.add("completed")
    if _is_valid(facts):
        found.add("policy_valid")
    if sound and (_is_valid(facts) or _is_honestly_empty(facts)):
        found.add("safely_served")
    return found


def _if_punctual(facts: Facts, *, sound: bool) -> set[str]:
    """Populations of a delivered response that was in time."""
    if not is_delivered(facts):
        return set()
    success = sound and _is_valid(facts)
    return {"deadline_valid", "technical_success"} if success else {"deadline_valid"}


def _is_valid(facts: Facts) -> bool:
    return is_delivered(facts) and facts.policy_valid is True and facts.schema_valid is True


def _is_honestly_empty(facts: Facts) -> bool:
    """Sources without a generated text: there is nothing to validate, so not knowing is enough."""
    return facts.route in MODELLESS_ROUTES and not is_violation(facts)


def _is_sound(facts: Facts, document: PolicyDocument) -> bool:
    """The rules of a success that are about how the response came to be."""
    return (
        is_admitted(facts)
        and _is_whole(facts, document)
        and _route_is_allowed(facts, document)
        and _ran_under_the_manifest(facts, document)
    )


def _is_whole(facts: Facts, document: PolicyDocument) -> bool:
    if facts.outcome == "early_terminated":
        return early_stop_of(document, facts.route, dict(facts.segment)) is not None
    if facts.outcome in CONDITIONAL_OUTCOMES:
        return facts.outcome in document.contract.accepts
    return facts.outcome == "completed"


def _route_is_allowed(facts: Facts, document: PolicyDocument) -> bool:
    """The route that rules and class ask for, one it may fall back to, or an accepted rung.

    An undeclared class asks for the conservative route, or for none.
    """
    if facts.route in MODELLESS_ROUTES:
        return facts.route in document.contract.accepts
    segment = dict(facts.segment)
    asked = route_for(document, facts.class_, segment).route
    if asked is None:
        return False
    if facts.route == asked or _stands_in(facts.route, asked, segment, document):
        return True
    return facts.route in fallbacks_for(document, asked, segment)


def _stands_in(
    route: str, asked: str, segment: Mapping[str, str], document: PolicyDocument
) -> bool:
    """The conservative route, for a shape whose price calibration has taken out."""
    if route != document.admission.conservative_route:
        return False
    buckets = segment.get(INPUT_BUCKET), segment.get(OUTPUT_BUCKET)
    return pad_of(document.demand, asked, *buckets) is None


def _ran_under_the_manifest(facts: Facts, document: PolicyDocument) -> bool:
    if facts.route in MODELLESS_ROUTES:
        return True
    model = document.models.get(facts.route)
    return model is not None and facts.manifest == manifest_digest(model)


def _mismatched(facts: Facts, document: PolicyDocument) -> bool:
    """A manifest was stated and it is not the generation's; an unstated one is only unknown."""
    model = document.models.get(facts.route)
    return bool(facts.manifest) and model is not None and facts.manifest != manifest_digest(model)


def _counts_for_latency(facts: Facts) -> bool:
    return is_admitted(facts) and facts.outcome not in {"cancelled", "rejected", "deferred"}
