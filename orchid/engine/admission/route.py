"""One route as admission reads it: its price, its timing, its ceilings and its pinned manifest."""

from decimal import Decimal

import msgspec

from orchid.engine.admission.budgets import atoms
from orchid.engine.admission.slices import WHOLE, Slice
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.demand import Timing
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.money import Price
from orchid.engine.document.quality import MODELLESS_ROUTES
from orchid.engine.economics import upstream_usd

FREE = Decimal(0)


class RouteTiming(msgspec.Struct, frozen=True, gc=False):
    """Declared service time of one request alone, in milliseconds."""

    fixed_ms: float
    prefill_ms_per_token: float
    decode_ms_per_token: float


class RoutePolicy(msgspec.Struct, frozen=True):
    """A route of the document. One without a model needs no replica, no time and no memory."""

    name: str
    factor: Decimal
    timing: RouteTiming | None
    context_tokens: int | None
    manifest: str
    price: Price | None
    charge: float  # the factor as the buckets count it
    input_atoms: int  # TEU atoms of an input token
    output_atoms: int  # and of an output token
    modelless: bool = False
    quantum_tokens: int = 1
    max_sequences: int | None = None
    max_live_tokens: int | None = None
    trims: bool = False
    modality: frozenset[str] = frozenset({"text"})
    privacy_cells: frozenset[str] = frozenset()

    def usd(self, input_tokens: int, output_tokens: int) -> Decimal:
        """Dollars at an external upstream; 0 on the generation's own fleet, whose ledger pays."""
        if self.price is None:
            return FREE
        return upstream_usd(self.price, input_tokens=input_tokens, output_tokens=output_tokens)


def routes_of(document: PolicyDocument, part: Slice = WHOLE) -> dict[str, RoutePolicy]:
    """Every route that can serve: the models, and what fallback rules name beside them."""
    named = {rule.to for rule in document.fallback if rule.to in MODELLESS_ROUTES}
    sources = {str(name): _modelless(str(name)) for name in sorted(map(str, named))}
    return {name: _route(document, name, part) for name in document.models} | sources


def dearest_factor(document: PolicyDocument) -> Decimal:
    """The price of work that nobody measured is an upper bound."""
    return max(document.demand.model_factor.values())


def _modelless(name: str) -> RoutePolicy:
    return RoutePolicy(name, Decimal(0), None, None, "", None, 0.0, 0, 0, modelless=True)


def _route(document: PolicyDocument, name: str, part: Slice) -> RoutePolicy:
    model, scheduling = document.models[name], document.scheduling
    own = scheduling.routes.get(name)
    factor = document.demand.model_factor.get(name) or dearest_factor(document)
    live_tokens = document.admission.live_tokens.per_route.get(name)
    return RoutePolicy(
        name=name,
        factor=factor,
        charge=float(factor),
        input_atoms=atoms(factor, document.demand.input_weight),
        output_atoms=atoms(factor),
        timing=_timing(model.timing) if model.timing else None,
        context_tokens=model.context_tokens,
        manifest=manifest_digest(model),
        price=document.prices.get(name),
        quantum_tokens=(own.max_decode_turns if own else None) or scheduling.max_decode_turns,
        max_sequences=part.places(model.max_sequences) if model.max_sequences else None,
        max_live_tokens=part.whole(live_tokens) if live_tokens else None,
        trims=model.over_budget_input != "refuse",
        modality=frozenset(model.modality),
        privacy_cells=frozenset(model.privacy_cells),
    )


def _timing(declared: Timing) -> RouteTiming:
    return RouteTiming(
        fixed_ms=declared.fixed_ms + declared.transfer_ms,
        prefill_ms_per_token=1000.0 / declared.prefill_tokens_per_s,
        decode_ms_per_token=declared.decode_ms_per_token,
    )
