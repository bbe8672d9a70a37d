"""A policy document prepared for the hot path: look-ups and plain numbers, nothing to validate."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from orchid.engine.admission.shares import ShareTree, share_tree
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.demand import Model, Timing
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.money import Price
from orchid.engine.economics import upstream_usd
from orchid.engine.segments import fallbacks_for, preferred_route

FALLBACKS_REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class RouteTiming:
    """Declared service time of one request alone, in milliseconds."""

    fixed_ms: float
    prefill_ms_per_token: float
    decode_ms_per_token: float


@dataclass(frozen=True, slots=True)
class RoutePolicy:
    """One route: its price factor, its timing and its pinned manifest."""

    name: str
    factor: Decimal
    timing: RouteTiming | None
    context_tokens: int | None
    manifest: str
    price: Price | None

    def usd(self, input_tokens: int, output_tokens: int) -> Decimal:
        """Dollars at an external upstream; 0 on the generation's own fleet, whose ledger pays."""
        if self.price is None:
            return Decimal(0)
        return upstream_usd(self.price, input_tokens=input_tokens, output_tokens=output_tokens)


@dataclass(frozen=True, slots=True)
class Fallbacks:
    """For one segment and requested route: what may serve instead, and what goes first."""

    allowed: tuple[str, ...]
    preferred: str | None


@dataclass(frozen=True, slots=True)
class CompiledPolicy:
    """A generation as admission reads it. `pool` names the replicas that serve this digest."""

    document: PolicyDocument
    digest: str
    pool: str
    routes: Mapping[str, RoutePolicy]
    shares: ShareTree
    input_weight: Decimal
    reserve_ms: float
    knee: int
    quantum_tokens: int
    live_tokens_of_pool: int
    accepts_bounded: bool
    may_prefer_compact: bool
    _fallbacks: dict[tuple[str, frozenset[tuple[str, str]]], Fallbacks] = field(
        default_factory=dict, compare=False
    )

    def teu(self, route: RoutePolicy, input_tokens: int, output_tokens: int) -> Decimal:
        """factor x (input weight x input + output), as `pricing.teu` without its look-up."""
        return route.factor * (self.input_weight * input_tokens + output_tokens)

    def fallbacks(self, route: str, dimensions: Mapping[str, str]) -> Fallbacks:
        """The segment's fallbacks, remembered: segments are few and requests are many."""
        key = (route, frozenset(dimensions.items()))
        found = self._fallbacks.get(key)
        if found is None:
            found = Fallbacks(
                tuple(fallbacks_for(self.document, route, dimensions)),
                preferred_route(self.document, route, dimensions),
            )
            if len(self._fallbacks) < FALLBACKS_REMEMBERED:
                self._fallbacks[key] = found
        return found


def compile_policy(
    document: PolicyDocument, *, digest: str = "", pool: str | None = None
) -> CompiledPolicy:
    """Prepare a loaded document. Without a pool it is served by the one that the document names."""
    admission, fleet = document.admission, document.fleet
    return CompiledPolicy(
        document=document,
        digest=digest,
        pool=pool or fleet.pool or "default",
        routes={name: _route(document, name, model) for name, model in document.models.items()},
        shares=share_tree(document),
        input_weight=document.demand.input_weight,
        reserve_ms=float(document.contract.post_model_reserve_ms),
        knee=admission.concurrency.per_replica,
        quantum_tokens=document.scheduling.max_decode_turns,
        live_tokens_of_pool=admission.live_tokens.per_device * fleet.devices,
        accepts_bounded="bounded" in document.contract.accepts,
        may_prefer_compact="compact_fallback" in document.overload,
    )


def _route(document: PolicyDocument, name: str, model: Model) -> RoutePolicy:
    factors = document.demand.model_factor
    return RoutePolicy(
        name=name,
        # A route nobody priced costs what the dearest does: an unknown price is an upper bound.
        factor=factors.get(name) or max(factors.values()),
        timing=_timing(model.timing) if model.timing else None,
        context_tokens=model.context_tokens,
        manifest=manifest_digest(model),
        price=document.prices.get(name),
    )


def _timing(declared: Timing) -> RouteTiming:
    return RouteTiming(
        fixed_ms=declared.fixed_ms + declared.transfer_ms,
        prefill_ms_per_token=1000.0 / declared.prefill_tokens_per_s,
        decode_ms_per_token=declared.decode_ms_per_token,
    )
