"""A policy document prepared for the hot path: look-ups and plain numbers, nothing to validate."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from orchid.engine.admission.breaker import BreakerRules, breaker_rules
from orchid.engine.admission.budgets import Caps, caps_by_tenant
from orchid.engine.admission.cell import Cell
from orchid.engine.admission.concurrency import LimitRules, constant, limit_rules
from orchid.engine.admission.order import OrderRules, order_rules
from orchid.engine.admission.overload import LadderRules, ladder_rules
from orchid.engine.admission.request import AdmissionRequest
from orchid.engine.admission.retry import RetryRules, retry_rules
from orchid.engine.admission.route import RoutePolicy, routes_of
from orchid.engine.admission.shares import ShareTree, share_tree
from orchid.engine.admission.signals import SignalRules, signal_rules
from orchid.engine.admission.slices import WHOLE, Slice
from orchid.engine.admission.table import DecisionTable
from orchid.engine.document.model import PolicyDocument


@dataclass(frozen=True, slots=True)
class CompiledPolicy:
    """A generation as admission reads it. `pool` names the replicas that serve this digest."""

    document: PolicyDocument
    digest: str
    pool: str
    routes: Mapping[str, RoutePolicy]
    shares: ShareTree
    table: DecisionTable
    region: str | None
    input_weight: Decimal
    input_charge: float  # the same as the buckets count it
    reserve_ms: float
    knee: int
    floor: int  # the knee where nothing is known any more
    hot_at: float | None
    devices: int
    live_tokens_per_device: int
    live_tokens_of_pool: int
    live_tokens_of_tenant: int
    live_tokens_of_request: int
    max_queued_teu: float
    after_ms: tuple[int, int]
    caps: Mapping[str, tuple[Caps, ...]]
    general_caps: tuple[Caps, ...]
    limit: LimitRules
    signals: SignalRules | None
    breaker: BreakerRules
    retry: RetryRules
    order: OrderRules
    ladder: LadderRules

    def cell(self, request: AdmissionRequest) -> Cell:
        """What the document says of a request, whatever the moment."""
        return self.table.cell(request)

    def teu(self, route: RoutePolicy, input_tokens: int, output_tokens: int) -> Decimal:
        """factor x (input weight x input + output), as `pricing.teu` without its look-up."""
        return route.factor * (self.input_weight * input_tokens + output_tokens)

    def at_safe_floor(self) -> "CompiledPolicy":
        """The same policy with no more in flight on a replica than one that is unknown may have."""
        return replace(self, knee=self.floor, limit=constant(self.floor))


def compile_policy(
    document: PolicyDocument,
    *,
    digest: str = "",
    pool: str | None = None,
    part: Slice = WHOLE,
) -> CompiledPolicy:
    """Prepare a loaded document. Without a pool it is served by the one that the document names.

    `part` is the slice of the fleet-wide limits that this edge enforces; limits of one request
    and what is relative to traffic (retries, rungs, breakers) are whole at every edge.
    """
    admission, fleet, population = document.admission, document.fleet, document.contract.population
    name = pool or fleet.pool or "default"
    routes, shares, live = (
        routes_of(document, part),
        share_tree(document, part),
        admission.live_tokens,
    )
    caps, general = caps_by_tenant(document.budgets)
    signals, limit = signal_rules(document, part), limit_rules(document, part)
    per_device = part.whole(live.per_device)
    return CompiledPolicy(
        document=document,
        digest=digest,
        pool=name,
        routes=routes,
        shares=shares,
        table=DecisionTable(document, routes, shares, name),
        region=population.region if population else None,
        input_weight=document.demand.input_weight,
        input_charge=float(document.demand.input_weight),
        reserve_ms=float(document.contract.post_model_reserve_ms),
        knee=limit.start,
        floor=min(limit.start, signals.floor_per_replica if signals else limit.floor),
        hot_at=admission.affinity.hot_at if admission.affinity else None,
        devices=fleet.devices,
        live_tokens_per_device=per_device,
        live_tokens_of_pool=per_device * fleet.devices,
        live_tokens_of_tenant=part.whole(live.per_tenant),
        live_tokens_of_request=live.per_request,
        max_queued_teu=part.rate(float(admission.max_queued_teu)),
        after_ms=admission.retry.after_ms,
        caps={tenant: tuple(map(part.caps, own)) for tenant, own in caps.items()},
        general_caps=tuple(map(part.caps, general)),
        limit=limit,
        signals=signals,
        breaker=breaker_rules(document),
        retry=retry_rules(document),
        order=order_rules(document),
        ladder=ladder_rules(document),
    )
