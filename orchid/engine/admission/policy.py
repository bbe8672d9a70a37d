"""A policy document prepared for the hot path: look-ups and plain numbers, nothing to validate."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from orchid.engine.admission.breaker import BreakerRules, breaker_rules
from orchid.engine.admission.budgets import Caps, caps_by_tenant
from orchid.engine.admission.cell import Cell
from orchid.engine.admission.concurrency import LimitRules, limit_rules
from orchid.engine.admission.order import OrderRules, order_rules
from orchid.engine.admission.overload import LadderRules, ladder_rules
from orchid.engine.admission.request import AdmissionRequest
from orchid.engine.admission.retry import RetryRules, retry_rules
from orchid.engine.admission.route import RoutePolicy, routes_of
from orchid.engine.admission.shares import ShareTree, share_tree
from orchid.engine.admission.signals import SignalRules, signal_rules
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


def compile_policy(
    document: PolicyDocument, *, digest: str = "", pool: str | None = None
) -> CompiledPolicy:
    """Prepare a loaded document. Without a pool it is served by the one that the document names."""
    admission, fleet, population = document.admission, document.fleet, document.contract.population
    name = pool or fleet.pool or "default"
    routes, shares, live = routes_of(document), share_tree(document), admission.live_tokens
    caps, general = caps_by_tenant(document.budgets)
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
        knee=admission.concurrency.per_replica,
        hot_at=admission.affinity.hot_at if admission.affinity else None,
        devices=fleet.devices,
        live_tokens_per_device=live.per_device,
        live_tokens_of_pool=live.per_device * fleet.devices,
        live_tokens_of_tenant=live.per_tenant,
        live_tokens_of_request=live.per_request,
        max_queued_teu=float(admission.max_queued_teu),
        after_ms=admission.retry.after_ms,
        caps=caps,
        general_caps=general,
        limit=limit_rules(document),
        signals=signal_rules(document),
        breaker=breaker_rules(document),
        retry=retry_rules(document),
        order=order_rules(document),
        ladder=ladder_rules(document),
    )
