"""The decision table: everything of a decision that does not depend on the moment, by cell.

A cell is a class in a segment. It is compiled when the first request of it comes and then found by
one look-up. Values that no rule names share a cell, so nobody outside can make the table grow; what
it remembers of spellings is bounded as well.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import msgspec

from orchid.engine.admission.budgets import atoms
from orchid.engine.admission.recent import Recent
from orchid.engine.admission.request import Action, AdmissionRequest, Reason, dimensions_of
from orchid.engine.admission.route import RoutePolicy, dearest_factor
from orchid.engine.admission.shares import ShareTree
from orchid.engine.document.demand import Deferral, TrafficClass
from orchid.engine.document.model import PolicyDocument
from orchid.engine.routing import route_for
from orchid.engine.segments import (
    INPUT_BUCKET,
    OUTPUT_BUCKET,
    bucket_name,
    fallbacks_for,
    matches,
    preferred_route,
)

SPELLINGS_REMEMBERED = 8192
CELLS_REMEMBERED = 8192
CLAIMING = frozenset({"serving", "control"})
ONE = Decimal(1)


class Option(msgspec.Struct, frozen=True):
    """One way to serve the requests of a cell, in the order of the cell's options.

    `refused` is what forbids it whatever the moment. `factor` is the price of an output token in
    TEU, padded where calibration asks for it.
    """

    route: str
    action: Action
    reason: Reason
    label: str
    factor: Decimal
    charge: float  # the same as the buckets count it
    input_atoms: int  # TEU atoms of an input token
    output_atoms: int  # and of an output token
    served: RoutePolicy
    manifest: str
    fixed_ms: float
    prefill_ms: float  # a token
    decode_ms: float  # a token
    timed: bool
    bounded: bool
    modelless: bool
    ceilings: bool  # the route has ceilings of its own
    window_tokens: int  # input and output together: the context window, or what has none
    path: tuple[int, ...]
    refused: Reason | None = None
    early_stop: str | None = None  # version of the stop that may end its answers early

    def service_ms(self, uncached_tokens: int, output_tokens: int) -> float:
        """Time on a warm replica without a wait; 0 where the route declares none."""
        return self.fixed_ms + uncached_tokens * self.prefill_ms + output_tokens * self.decode_ms


class Cell(msgspec.Struct, frozen=True):
    """What policy says of the requests of one class and segment."""

    document: PolicyDocument
    known: bool
    route: str
    region: str | None
    refused: Reason | None
    simple: bool  # nothing about its shape has to be asked for each request
    dimensions: Mapping[str, str] | None  # None: it holds requests of several segments
    input_tokens: int
    output_tokens: int
    min_output_tokens: int | None
    deadline_ms: float
    purpose: str
    claims: bool  # False: no claim on capacity in overload
    deferral: Deferral | None
    capped_output_tokens: int | None
    reserved_output_tokens: int | None
    reserves: bool  # a percentile instead of the cap
    limits_output: bool  # one of the two is given
    options: tuple[Option, ...]
    compact_first: tuple[Option, ...]  # in the order of the overload rung that prefers fallbacks
    prohibited: tuple[str, ...]


NO_WINDOW = 2**62
_Key = tuple[Any, ...]


class DecisionTable:
    """Cells of one document and pool, compiled as they are met."""

    def __init__(
        self,
        document: PolicyDocument,
        routes: Mapping[str, RoutePolicy],
        shares: ShareTree,
        pool: str,
    ) -> None:
        self._document, self._routes, self._shares, self._pool = document, routes, shares, pool
        self._lengths = {
            name: (traffic.input_tokens, traffic.max_output_tokens)
            for name, traffic in document.classes.items()
        }
        buckets = document.segments.buckets
        self._input_edges = buckets.get(INPUT_BUCKET, ())
        self._output_edges = buckets.get(OUTPUT_BUCKET, ())
        self._tenants = shares.values("tenant")
        self._named = _named_values(document)
        self._privacy = frozenset().union(*(route.privacy_cells for route in routes.values()))
        self._modalities = frozenset().union(*(route.modality for route in routes.values()))
        self._by_spelling: Recent[_Key, Cell] = Recent(SPELLINGS_REMEMBERED)
        self._cells: Recent[_Key, Cell] = Recent(CELLS_REMEMBERED)

    def cell(self, request: AdmissionRequest) -> Cell:
        """The cell of a request: one look-up, but for the first of its spelling."""
        cls, given, cap = request.class_, request.input_tokens, request.max_output_tokens
        lengths = self._lengths.get(cls)
        if lengths is None:
            lengths, cls = (0, 0), ""
        tenant, segment = request.tenant, request.segment
        key = (
            cls,
            request.tenant_class,
            request.region,
            request.privacy_cell,
            request.modality,
            bisect_left(self._input_edges, lengths[0] if given is None else given),
            bisect_left(self._output_edges, lengths[1] if cap is None else cap),
            tenant if tenant in self._tenants else None,
            tuple(segment.items()) if segment else None,
        )
        return self._by_spelling.young.get(key) or self._met(key, request, lengths)

    def _met(self, key: _Key, request: AdmissionRequest, lengths: tuple[int, int]) -> Cell:
        """A spelling that was not met lately: the cell that it means."""
        cell = self._by_spelling.get(key)
        if cell is None:
            cell = self._meant(request, lengths)
            self._by_spelling.put(key, cell)
        return cell

    def _meant(self, request: AdmissionRequest, lengths: tuple[int, int]) -> Cell:
        given, cap = request.input_tokens, request.max_output_tokens
        input_tokens = lengths[0] if given is None else given
        output_tokens = lengths[1] if cap is None else cap
        said = dimensions_of(self._document, request, input_tokens, output_tokens)
        known = {n: value for n, value in said.items() if value in self._named.get(n, ())}
        traffic = self._document.classes.get(request.class_)
        modality = request.modality
        if modality == "text" and traffic is not None:
            modality = traffic.modality
        tenant_class = request.tenant_class or said.get("tenant_class")
        place = _Place(
            cls=request.class_ if request.class_ in self._lengths else None,
            dimensions=said if len(known) == len(said) else known,
            exact=len(known) == len(said),
            input_bucket=bucket_name(self._input_edges, input_tokens),
            output_bucket=bucket_name(self._output_edges, output_tokens),
            tenant=_within(request.tenant, self._tenants),
            tenant_class=_within(tenant_class, self._shares.values("tenant_class")),
            region=_within(request.region, self._shares.values("region")),
            region_said=request.region is not None,
            privacy_cell=_within(request.privacy_cell, self._privacy),
            modality=_within(modality, self._modalities),
        )
        key = (frozenset(place.dimensions.items()), *msgspec.structs.astuple(place)[2:], place.cls)
        cell = self._cells.get(key)
        if cell is None:
            cell = self._compiled(place)
            self._cells.put(key, cell)
        return cell

    def _compiled(self, place: "_Place") -> Cell:
        document, cls = self._document, place.cls
        traffic = document.classes[cls] if cls is not None else None
        route = route_for(document, cls, place.dimensions).route
        population = document.contract.population
        deadline_ms = (traffic.deadline_ms if traffic else None) or document.contract.deadline_ms
        options = tuple(self._options(place, traffic, route)) if route is not None else ()
        first = tuple(o for o in options if o.action is Action.FALLBACK and not o.modelless)
        refused = self._refused(place, route)
        reserved = traffic.reserve.output_tokens if traffic and traffic.reserve else None
        capped = traffic.capped_output_tokens if traffic and self._accepts("bounded") else None
        return Cell(
            document=document,
            known=traffic is not None,
            route=route or "",
            region=population.region if population else None,
            refused=refused,
            simple=refused is None and traffic is not None,
            dimensions=place.dimensions if place.exact else None,
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

    def _refused(self, place: "_Place", route: str | None) -> Reason | None:
        """What no option can heal: no route at all, or one that can't read this input."""
        if route is None:
            return Reason.UNKNOWN_CLASS
        if place.modality not in self._routes[route].modality:
            return Reason.SHAPE_OVER_LIMIT
        return None

    def _options(
        self, place: "_Place", traffic: TrafficClass | None, route: str
    ) -> Iterator[Option]:
        """Step 2: each allowed way once, as policy orders them when nothing is overloaded."""
        allowed = fallbacks_for(self._document, route, place.dimensions)
        preferred = preferred_route(self._document, route, place.dimensions)
        if preferred is not None:
            yield self._fallback(place, traffic, preferred, Reason.FALLBACK_PREFERRED)
        yield from self._requested(place, traffic, route)
        rest = [name for name in allowed if name != preferred]
        for name in sorted(rest, key=lambda name: self._routes[name].modelless):
            yield self._fallback(place, traffic, name, Reason.FALLBACK_NEEDED)

    def _requested(
        self, place: "_Place", traffic: TrafficClass | None, route: str
    ) -> Iterator[Option]:
        """The requested route in full and bounded, or the conservative one in its place."""
        if traffic is None:
            dear = dearest_factor(self._document)
            yield self._option(
                place, traffic, route, Action.ADMIT, Reason.CONSERVATIVE_ROUTE, factor=dear
            )
            return
        option = self._option(place, traffic, route, Action.ADMIT, Reason.REQUESTED)
        yield option
        conservative = self._document.admission.conservative_route
        if option.refused is Reason.CELL_UNCALIBRATED and conservative is not None:
            yield self._option(
                place,
                traffic,
                conservative,
                Action.ADMIT,
                Reason.CELL_UNCALIBRATED,
                label=f"{conservative} conservative",
                factor=dearest_factor(self._document),
            )
        elif traffic.min_output_tokens is not None and self._accepts("bounded") and option.timed:
            yield self._option(
                place,
                traffic,
                route,
                Action.BOUND,
                Reason.BOUNDED_BY_DEADLINE,
                label=f"{route} bounded",
            )

    def _accepts(self, rung: str) -> bool:
        return rung in self._document.contract.accepts

    def _fallback(
        self, place: "_Place", traffic: TrafficClass | None, route: str, reason: Reason
    ) -> Option:
        if self._routes[route].modelless:
            reason = Reason.FALLBACK_SOURCES
        return self._option(place, traffic, route, Action.FALLBACK, reason)

    def _option(
        self,
        place: "_Place",
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
        pad, disabled = self._calibration(route, place) if factor is None else (ONE, False)
        refused = Reason.CELL_UNCALIBRATED if disabled else None
        if served.privacy_cells and place.privacy_cell not in served.privacy_cells:
            refused = Reason.PRIVACY_CELL
        if not served.modelless and place.modality not in served.modality:
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
            path=self._path(place, traffic, route),
            refused=refused,
            early_stop=self._early_stop(route, place),
        )

    def _early_stop(self, route: str, place: "_Place") -> str | None:
        """A stop that the contract accepts, and whose evidence covers this segment."""
        model = self._document.models.get(route)
        stop = model.early_stop if model else None
        if stop is None or not self._accepts("early_terminated"):
            return None
        return stop.version if matches(stop.where, place.dimensions) else None

    def _calibration(self, route: str, place: "_Place") -> tuple[Decimal, bool]:
        """The factor that calibration puts on this shape's estimates, and whether it forbids it."""
        for cell in self._document.demand.cells:
            if (
                cell.route == route
                and cell.input_bucket in (None, place.input_bucket)
                and cell.output_bucket in (None, place.output_bucket)
            ):
                return cell.pad or ONE, cell.disabled
        return ONE, False

    def _path(self, place: "_Place", traffic: TrafficClass | None, route: str) -> tuple[int, ...]:
        """Nodes of the share tree. Work without a claim has no part in anybody's guarantee."""
        purpose = traffic.purpose if traffic else "serving"
        claims = purpose in CLAIMING
        population = self._document.contract.population
        usual = population.region if population else None
        return self._shares.path(
            {
                "region": place.region if place.region_said else usual,
                "pool": self._pool,
                "tenant_class": place.tenant_class if claims else None,
                "tenant": place.tenant if claims else None,
                "route": route if claims else None,
                "purpose": purpose,
            }
        )

    def _prohibited(self, route: str | None, options: tuple[Option, ...]) -> tuple[str, ...]:
        """Routes that the document could fall back to, and doesn't allow for this segment."""
        rules = self._document.fallback
        named = {rule.to for rule in rules if rule.from_ == route and rule.to is not None}
        return tuple(sorted({str(name) for name in named} - {option.route for option in options}))


class _Place(msgspec.Struct, frozen=True):
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


def _within(value: str | None, named: frozenset[str]) -> str | None:
    return value if value in named else None


def _overloaded(options: tuple[Option, ...]) -> tuple[Option, ...]:
    """The same fallbacks for the reason of a rung, but for the one that goes first anyway."""
    return tuple(
        option
        if option.reason is Reason.FALLBACK_PREFERRED
        else msgspec.structs.replace(option, reason=Reason.FALLBACK_OVERLOAD)
        for option in options
    )


def _named_values(document: PolicyDocument) -> dict[str, frozenset[str]]:
    """Per dimension the values that a cell may depend on: of selectors, classes and buckets."""
    wheres = [rule.where for rule in document.fallback]
    wheres += [rule.where for rule in document.routing.rules]
    wheres += list(document.routing.always_large)
    wheres += [floor.where for floor in document.segments.floors]
    stops = (model.early_stop for model in document.models.values())
    wheres += [stop.where for stop in stops if stop is not None]
    wheres += [traffic.dimensions for traffic in document.classes.values()]
    found: dict[str, set[str]] = {}
    for where in wheres:
        for name, value in where.items():
            found.setdefault(name, set()).update([value] if isinstance(value, str) else value)
    for name, edges in document.segments.buckets.items():
        found.setdefault(name, set()).update(
            bucket_name(edges, tokens) for tokens in (0, *(edge + 1 for edge in edges))
        )
    return {name: frozenset(values) for name, values in found.items()}
