"""The books of a product: what was spent in a stretch of time, for whom, and to what end."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from gates.models import Window
from gates.selectors.evidence import items_for, manifests_of
from gates.selectors.periods import Period
from gates.selectors.verdicts import live_window
from ingest.selectors import HourOf, counted_by_hour
from ingest.states import RollupBy
from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics import Charge, Entry, Run, Statement, Traffic, ledger, statement
from orchid.engine.economics.rest import without
from orchid.engine.economics.statement import working_routes
from orchid.engine.rollup import Sums
from orchid.engine.verdict.counted import CellName, CellSums, Counted
from orchid.engine.verdict.evidence import Book
from orchid.engine.verdict.traffic import Coverage
from policies.models import Product
from policies.selectors import document_of


class Line(NamedTuple):
    """One row of an allocation: whose it is, what was counted and what it was charged."""

    name: str
    entry: Entry
    charge: Charge


@dataclass(frozen=True)
class Books:
    """Two statements over the same ledger: by cell of the traffic, and by tenant."""

    product: Product
    period: Period
    by_cell: Statement
    by_tenant: Statement
    runs: list[Run]
    live: PolicyDocument | None
    """The document whose rule and fleet are in force now; None before the first window."""

    @cached_property
    def routes(self) -> list[Line]:
        """The ledger by the route that answered."""
        return _lines(self.by_cell, lambda key: _cell(key).route or "no route")

    def by_dimension(self, name: str) -> list[Line]:
        """The ledger by the values of one dimension."""
        return _lines(self.by_cell, lambda key: _cell(key).dims.get(name, "not told"))

    @cached_property
    def tenants(self) -> list[Line]:
        """The ledger by tenant; `other` are those that keep no name of their own."""
        return _lines(self.by_tenant, lambda key: _cell(key).tenant or "no tenant")

    @cached_property
    def dimensions(self) -> list[str]:
        """What the traffic can be taken apart by."""
        named = dict.fromkeys(self.live.segments.dimensions if self.live else ())
        seen = {name for key in self.by_cell.entries for name in _cell(key).dims}
        return [name for name in named if name in seen] + sorted(seen - named.keys())


def books(product: Product, period: Period) -> Books:
    """Lay the ledger of a period on what was counted in it."""
    found = counted_by_hour(product, period.start, period.end)
    cells = {place: one for place, one in found.items() if place.by == RollupBy.CELL}
    tenants = {place: one for place, one in found.items() if place.by == RollupBy.TENANT}
    runs = runs_of(product, period, cells)
    documents = {place.digest: document_of(place.digest) for place in found}
    hours = ledger(runs, period.start, period.end)
    traffic = list(_by_cell(product, cells, period.end))
    working = working_routes(traffic, documents)
    window = live_window(product)
    return Books(
        product,
        period,
        statement(hours, traffic, documents, working),
        statement(hours, _by_tenant(cells, tenants), documents, working),
        runs,
        document_of(window.digest) if window else None,
    )


def runs_of(product: Product, period: Period, counted: Iterable[HourOf]) -> list[Run]:
    """Every window that was open in the period, and what was shadowed beside it."""
    windows = Window.objects.filter(product=product, opens_at__lt=period.end)
    open_then = [one for one in windows if one.closes_at is None or one.closes_at > period.start]
    shadows = {(p.publication, p.digest) for p in counted if p.cohort == "shadow"}
    runs = [_run(one, one.digest, one.cohort, one.exposure, period) for one in open_then]
    for publication, digest in sorted(shadows, key=str):
        beside = [one for one in open_then if one.publication == publication]
        runs += [_run(one, digest, "shadow", 0.0, period) for one in beside]
    return runs


def _run(window: Window, digest: str, cohort: str, exposure: float, period: Period) -> Run:
    return Run(
        digest,
        document_of(digest),
        window.publication,
        cohort,
        exposure,
        max(window.opens_at, period.start),
        min(window.closes_at or period.end, period.end),
    )


def _by_cell(
    product: Product, counted: Mapping[HourOf, Counted], at: datetime
) -> Iterable[Traffic]:
    digests = {place.digest for place in counted}
    covering = {digest: _coverage(product, digest, counted, at) for digest in digests}
    for place, one in counted.items():
        for cell in one.sums():
            successes = _successes(cell, covering[place.digest])
            yield _traffic(place, cell, cell.name, cell.name.route, successes)


def _coverage(
    product: Product, digest: str, counted: Mapping[HourOf, Counted], at: datetime
) -> Coverage:
    """Which cells of a generation's traffic evidence covers, as its gates take it."""
    document = document_of(digest)
    items = items_for(product, manifests_of(document).values())
    whole = Counted.merged([one for place, one in counted.items() if place.digest == digest])
    return Coverage(document, whole, Book(items, document, at))


def _successes(cell: CellSums, coverage: Coverage) -> int:
    technical = cell.counters.get("technical_success", 0)
    if not technical or coverage.told(cell.name).scores is None:
        return 0
    if coverage.fallback_counts(cell.dims):
        return technical
    return max(0, technical - cell.counters.get("fallback", 0))


def _by_tenant(
    cells: Mapping[HourOf, Counted], tenants: Mapping[HourOf, Counted]
) -> Iterable[Traffic]:
    """Every tenant, and the requests of nobody as what is left of the cells.

    What a tenant's requests were worth by evidence isn't known, so its successes are technical.
    """
    for place, one in cells.items():
        named = tenants.get(place._replace(by=RollupBy.TENANT))
        some = named.sums() if named else []
        for tenant in some:
            technical = tenant.counters.get("technical_success", 0)
            yield _traffic(place, tenant, tenant.name, None, technical)
        rest = without(map(_sums, one.sums()), map(_sums, some))
        if rest is not None:
            nobody, technical = CellName("", "", "", ""), rest.counters["technical_success"]
            yield Traffic(place.hour_at, place.digest, place.cohort, nobody, None, rest, technical)


def _traffic(
    place: HourOf, cell: CellSums, key: Hashable, route: str | None, successes: int
) -> Traffic:
    return Traffic(place.hour_at, place.digest, place.cohort, key, route, _sums(cell), successes)


def _sums(cell: CellSums) -> Sums:
    found = Sums(figures=cell.figures, teu=cell.teu, cost_usd=cell.cost_usd, records=cell.records)
    found.counters.update(cell.counters)
    return found


def _lines(of: Statement, name: Callable[[Hashable], str]) -> list[Line]:
    """The statement by name, the dearest first."""
    found: dict[str, Line] = {}
    for key, entry in of.entries.items():
        line = found.setdefault(name(key), Line(name(key), Entry(), Charge()))
        line.entry.merge(entry)
        line.charge.add(of.allocated.charges.get(key, Charge()))
    return sorted(found.values(), key=lambda line: (-line.charge.total, line.name))


def _cell(key: Hashable) -> CellName:
    assert isinstance(key, CellName), "statements of this room have cells for keys"
    return key
