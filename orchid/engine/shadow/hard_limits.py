"""The incumbent under a candidate's limits: it decides as before, and may be refused more.

Budgets, live tokens of a request, a tenant, a route and a device, sequences of a route, requests in
flight on a replica, work in the queue and retries: of each the tighter of both holds. What a
candidate loosens waits for its canary, where gates look at it. Shares, routes, fallback, quality
and prices stay the incumbent's, and its pool keeps its own devices.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from orchid.engine.admission.budgets import Caps
from orchid.engine.admission.policy import CompiledPolicy, compile_policy
from orchid.engine.admission.slices import WHOLE, Slice
from orchid.engine.document.demand import Model
from orchid.engine.document.limits import Admission, Concurrency, LiveTokens, Retry
from orchid.engine.document.model import PolicyDocument

NumberT = TypeVar("NumberT", bound=Any)


def under_limits(
    incumbent: CompiledPolicy, candidate: CompiledPolicy, part: Slice = WHOLE
) -> CompiledPolicy:
    """The incumbent as it decides while the candidate's limits hold, under its own digest."""
    document = limited(incumbent.document, candidate.document)
    policy = compile_policy(document, digest=incumbent.digest, pool=incumbent.pool, part=part)
    tenants = sorted({*incumbent.caps, *candidate.caps})
    return replace(
        policy,
        caps={
            tenant: _tighter_caps(
                incumbent.caps.get(tenant, incumbent.general_caps),
                candidate.caps.get(tenant, candidate.general_caps),
            )
            for tenant in tenants
        },
        general_caps=_tighter_caps(incumbent.general_caps, candidate.general_caps),
    )


def limited(incumbent: PolicyDocument, candidate: PolicyDocument) -> PolicyDocument:
    """The incumbent's document with the tighter of each limit but budgets."""
    return incumbent.model_copy(
        update={
            "admission": _admission(incumbent.admission, candidate.admission),
            "models": {
                name: _model(model, candidate.models.get(name))
                for name, model in incumbent.models.items()
            },
        }
    )


def _admission(one: Admission, other: Admission) -> Admission:
    return one.model_copy(
        update={
            "max_queued_teu": min(one.max_queued_teu, other.max_queued_teu),
            "concurrency": _concurrency(one.concurrency, other.concurrency),
            "live_tokens": _live_tokens(one.live_tokens, other.live_tokens),
            "retry": _retry(one.retry, other.retry),
        }
    )


def _concurrency(one: Concurrency, other: Concurrency) -> Concurrency:
    """An adaptive cap moves as the incumbent's does, between the tighter bounds."""
    per_replica = min(one.per_replica, other.per_replica)
    ceilings = one.ceiling or one.per_replica, other.ceiling or other.per_replica
    floor = None if one.floor is None else min(one.floor, per_replica)
    return one.model_copy(
        update={"per_replica": per_replica, "floor": floor, "ceiling": min(ceilings)}
    )


def _live_tokens(one: LiveTokens, other: LiveTokens) -> LiveTokens:
    return one.model_copy(
        update={
            "per_device": min(one.per_device, other.per_device),
            "per_tenant": min(one.per_tenant, other.per_tenant),
            "per_request": min(one.per_request, other.per_request),
            "per_route": _tighter_each(one.per_route, other.per_route),
        }
    )


def _retry(one: Retry, other: Retry) -> Retry:
    return one.model_copy(
        update={
            "budget": min(one.budget, other.budget),
            "attempts_per_request": min(one.attempts_per_request, other.attempts_per_request),
        }
    )


def _model(one: Model, other: Model | None) -> Model:
    if other is None:
        return one
    return one.model_copy(
        update={"max_sequences": _tighter(one.max_sequences, other.max_sequences)}
    )


def _tighter_each(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    names = sorted({*one, *other})
    return {name: min(each[name] for each in (one, other) if name in each) for name in names}


def _tighter(one: NumberT | None, other: NumberT | None) -> NumberT | None:
    """The smaller; None is no limit."""
    return min((most for most in (one, other) if most is not None), default=None)


def _tighter_caps(one: Iterable[Caps], other: Iterable[Caps]) -> tuple[Caps, ...]:
    """By window, the tighter cap of each unit."""
    found: dict[int, Caps] = {caps.window_ms: caps for caps in one}
    for caps in other:
        before = found.get(caps.window_ms, Caps(caps.window_ms))
        capped = {
            unit: _tighter(getattr(before, unit), getattr(caps, unit))
            for unit in Caps.__struct_fields__
            if unit != "window_ms"
        }
        found[caps.window_ms] = msgspec.structs.replace(before, **capped)
    return tuple(found.values())
