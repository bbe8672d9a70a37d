"""Compiles a cell of the decision table: the options of a class in a segment, in their order."""

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal

import msgspec

from orchid.engine.admission.budgets import atoms
from orchid.engine.admission.cell import Cell, Option
from orchid.engine.admission.request import Action, Reason
from orchid.engine.admission.route import RoutePolicy, dearest_factor
from orchid.engine.admission.shares import ShareTree
from orchid.engine.document.demand import DemandCell, TrafficClass
from orchid.engine.document.model import PolicyDocument
from orchid.engine.early_stop import early_stop_of
from orchid.engine.routing import route_for
from orchid.engine.segments import allowed_among
from orchid.engine.selector_index import SelectorIndex, positions

CLAIMING = frozenset({"serving", "control"})
ONE = Decimal(1)
NO_WINDOW = 2**62


class CellTraits(msgspec.Struct, frozen=True):
    """What a cell is compiled from: values that rules name, None for all others."""

    cls: str | None
    dimensions: Mapping[str, str]
    exact: bool
    input_bucket: str
    output_bucket: str
    tenant: str | None
    tenant_class: str | None
    region: str | None
    region_said: bool
    privacy_cell: str | None
    modality: str | None


class Compiler:
    """One document and pool, from which cells are compiled."""

    def __init__(
        self,
        document: PolicyDocument,
        routes: Mapping[str, RoutePolicy],
        shares: ShareTree,
        pool: str,
    ) -> None:
        self._document, self._routes, self._shares, self._pool = document, routes, shares, pool
        self._fallbacks = SelectorIndex([rule.where for rule in document.fallback])
        self._calibrated: dict[str, list[DemandCell]] = {}
        for cell in document.demand.cells:
            self._calibrated.setdefault(cell.route, []).append(cell)

    def cell(self, traits: CellTraits) -> Cell:
        """What policy says of the requests of these traits."""
        document, cls = self._document, traits.cls
        traffic = document.classes[cls] if cls is not None else None
        route = route_for(document, cls, traits.dimensions).route
        population = document.contract.population
        deadline_ms = (traffic.deadline_ms if traffic else None) or document.contract.deadline_ms
        options = tuple(self._options(traits, traffic, route)) if route is not None else ()
        first = tuple(o for o in options if o.action is Action.FALLBACK and not o.modelless)
        refused = self._refused(traits, route)
        reserved = traffic.reserve.output_tokens if traffic and traffic.reserve else None
        capped = traffic.capped_output_tokens if traffic and self._accepts("bounded") else None
        return Cell(
            document=document,
            known=traffic is not None,
            route=route or "",
            region=population.region if population else None,
            refused=refused,
            simple=refused is None and traffic is not None,
            dimensions=traits.dimensions if traits.exact else None,
            input_tokens=traffic.input_tokens if traffic else 0,
            output_tokens=traffic.max_output_tokens if traffic else 0,
            min_output_tokens=traffic.min_output_tokens if traffic else None,
            deadline_ms=float(deadline_ms),
            purpose=traffic.purpose if traffic else "serving",
            claims=traffic is None or traffic.purpose in CLAIMING,
            deferral=traffic.deferral if traffic else None,
            capped_output_tokens=capped,
            reserved_output_tokens=reserved,
            reserves=reserved is not None,
            limits_output=reserved is not None or capped is not None,
            options=options,
            compact_first=_overloaded(first) + tuple(o for o in options if o not in first),
            prohibited=self._prohibited(route, options),
        )

    def _refused(self, traits: CellTraits, route: str | None) -> Reason | None:
        """What no option can heal: no route at all, or one that can't read this input."""
        if route is None:
            return Reason.UNKNOWN_CLASS
        if traits.modality not in self._routes[route].modality:
            return Reason.SHAPE_OVER_LIMIT
        return None

    def _options(
        self, traits: CellTraits, traffic: TrafficClass | None, route: str
    ) -> Iterator[Option]:
        """Step 2: each allowed way once, as policy orders them when nothing is overloaded."""
        found = positions(self._fallbacks.covering(traits.dimensions))
        allowed = allowed_among((self._document.fallback[i] for i in found), route)
        preferred = next((name for name, first in allowed.items() if first), None)
        if preferred is not None:
            yield self._fallback(traits, traffic, preferred, Reason.FALLBACK_PREFERRED)
        yield from self._requested(traits, traffic, route)
        rest = [name for name in allowed if name != preferred]
        for name in sorted(rest, key=lambda name: self._routes[name].modelless):
            yield self._fallback(traits, traffic, name, Reason.FALLBACK_NEEDED)

    def _requested(
        self, traits: CellTraits, traffic: TrafficClass | None, route: str
    ) -> Iterator[Option]:
        """The requested route in full and bounded, or the conservative one in its place."""
        if traffic is None:
            dear = dearest_factor(self._document)
            yield self._option(
                traits, traffic, route, Action.ADMIT, Reason.CONSERVATIVE_ROUTE, factor=dear
            )
            return
        option = self._option(traits, traffic, route, Action.ADMIT, Reason.REQUESTED)
        yield option
        conservative = self._document.admission.conservative_route
        if option.refused is Reason.CELL_UNCALIBRATED and conservative is not None:
            yield self._option(
                traits,
                traffic,
                conservative,
                Action.ADMIT,
                Reason.CELL_UNCALIBRATED,
                label=f"{conservative} conservative",
                factor=dearest_factor(self._document),
            )
        elif traffic.min_output_tokens is not None and self._accepts("bounded") and option.timed:
            yield self._option(
                traits,
                traffic,
                route,
                Action.BOUND,
                Reason.BOUNDED_BY_DEADLINE,
                label=f"{route} bounded",
            )

    def _accepts(self, rung: str) -> bool:
        return rung in self._document.contract.accepts

    def _fallback(
        self, traits: CellTraits, traffic: TrafficClass | None, route: str, reason: Reason
    ) -> Option:
        if self._routes[route].modelless:
            reason = Reason.FALLBACK_SOURCES
        return self._option(traits, traffic, route, Action.FALLBACK, reason)

    def _option(
        self,
        traits: CellTraits,
        traffic: TrafficClass | None,
        route: str,
        action: Action,
        reason: Reason,
        *,
        label: str | None = None,
        factor: Decimal | None = None,
    ) -> Option:
        """`factor` given is an upper bound, which no calibration has to raise or forbid."""
        served = self._routes[route]
        pad, disabled = self._calibration(route, traits) if factor is None else (ONE, False)
        refused = Reason.CELL_UNCALIBRATED if disabled else None
        if served.privacy_cells and traits.privacy_cell not in served.privacy_cells:
            refused = Reason.PRIVACY_CELL
        if not served.modelless and traits.modality not in served.modality:
            refused = Reason.SHAPE_OVER_LIMIT
        timing = served.timing
        price = (served.factor, pad) if factor is None else (factor,)
        return Option(
            route=route,
            action=action,
            reason=reason,
            label=label or route,
            factor=math.prod(price, start=ONE) if pad != ONE else price[0],
            charge=float(math.prod(price, start=ONE)),
            input_atoms=atoms(self._document.demand.input_weight, *price),
            output_atoms=atoms(ONE, *price),
            served=served,
            manifest=served.manifest,
            fixed_ms=timing.fixed_ms if timing else 0.0,
            prefill_ms=timing.prefill_ms_per_token if timing else 0.0,
            decode_ms=timing.decode_ms_per_token if timing else 0.0,
            timed=timing is not None,
            bounded=action is Action.BOUND,
            modelless=served.modelless,
            ceilings=served.max_live_tokens is not None or served.max_sequences is not None,
            window_tokens=NO_WINDOW if served.context_tokens is None else served.context_tokens,
            path=self._path(traits, traffic, route),
            refused=refused,
            early_stop=early_stop_of(self._document, route, traits.dimensions),
        )

    def _calibration(self, route: str, traits: CellTraits) -> tuple[Decimal, bool]:
        """The factor that calibration puts on this shape's estimates, and whether it forbids it."""
        for cell in self._calibrated.get(route, ()):
            if cell.input_bucket in (None, traits.input_bucket) and cell.output_bucket in (
                None,
                traits.output_bucket,
            ):
                return cell.pad or ONE, cell.disabled
        return ONE, False

    def _path(
        self, traits: CellTraits, traffic: TrafficClass | None, route: str
    ) -> tuple[int, ...]:
        """Nodes of the share tree. Work without a claim has no part in anybody's guarantee."""
        purpose = traffic.purpose if traffic else "serving"
        claims = purpose in CLAIMING
        population = self._document.contract.population
        usual = population.region if population else None
        return self._shares.path(
            {
                "region": traits.region if traits.region_said else usual,
                "pool": self._pool,
                "tenant_class": traits.tenant_class if claims else None,
                "tenant": traits.tenant if claims else None,
                "route": route if claims else None,
                "purpose": purpose,
            }
        )

    def _prohibited(self, route: str | None, options: tuple[Option, ...]) -> tuple[str, ...]:
        """Routes that the document could fall back to, and doesn't allow for this segment."""
        rules = self._document.fallback
        named = {rule.to for rule in rules if rule.from_ == route and rule.to is not None}
        return tuple(sorted({str(name) for name in named} - {option.route for option in options}))


def _overloaded(options: tuple[Option, ...]) -> tuple[Option, ...]:
    """The same fallbacks for the reason of a rung, but for the one that goes first anyway."""
    return tuple(
        option
        if option.reason is Reason.FALLBACK_PREFERRED
        else msgspec.structs.replace(option, reason=Reason.FALLBACK_OVERLOAD)
        for option in options
    )
