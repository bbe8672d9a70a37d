"""The books of a product: what was spent in a stretch of time, for whom, and to what end."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from gates.models import Window
from gates.selectors.evidence import items_for, manifests_of
from gates.selectors.periods import Period
from gates.selectors.verdicts import live_window
from ingest.selectors import CellInTime, Hourly, counted_by_hour
from ingest.states import RollupBy
from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics import Charge, Entry, Run, Statement, Traffic, ledger, statement
from orchid.engine.economics.rest import without
from orchid.engine.economics.statement import working_routes
from orchid.engine.rollup import Sums
from orchid.engine.verdict.counted import CellName, Counted
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
    cells = [one for one in found if one.by == RollupBy.CELL]
    tenants = [one for one in found if one.by == RollupBy.TENANT]
    runs = runs_of(product, period, cells)
    documents = {one.digest: document_of(one.digest) for one in found}
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


def runs_of(product: Product, period: Period, counted: Iterable[Hourly]) -> list[Run]:
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


def _by_cell(product: Product, counted: Sequence[Hourly], at: datetime) -> Iterator[Traffic]:
    for digest in sorted({one.digest for one in counted}):
        mine = [one for one in counted if one.digest == digest]
        coverage = _coverage(product, digest, [one.whole for one in mine], at)
        for stream in mine:
            for cell in stream.hours:
                successes = _successes(cell, coverage)
                yield _traffic(stream, cell, cell.name.route, successes)


def _coverage(product: Product, digest: str, parts: Sequence[Counted], at: datetime) -> Coverage:
    """Which cells of a generation's traffic evidence covers, as its gates take it."""
    document = document_of(digest)
    items = items_for(product, manifests_of(document).values())
    return Coverage(document, Counted.merged(parts), Book(items, document, at))


def _successes(cell: CellInTime, coverage: Coverage) -> int:
    technical = cell.sums.counters["technical_success"]
    if not technical or coverage.told(cell.name).scores is None:
        return 0
    if coverage.fallback_counts(cell.name.dims):
        return technical
    return max(0, technical - cell.sums.counters["fallback"])


def _by_tenant(cells: Sequence[Hourly], tenants: Sequence[Hourly]) -> Iterator[Traffic]:
    """Every tenant, and the requests of nobody as what is left of the cells.

    What a tenant's requests were worth by evidence isn't known, so its successes are technical.
    """
    named = {_key(one): one for one in tenants}
    for stream in cells:
        some = named[_key(stream)].hours if _key(stream) in named else []
        for tenant in some:
            yield _traffic(stream, tenant, None, tenant.sums.counters["technical_success"])
        by_hour = _by_hour(some)
        for at, all_of in sorted(_by_hour(stream.hours).items()):
            rest = without(all_of, by_hour[at])
            if rest is not None:
                nobody = CellInTime(at, CellName("", "", ""), rest)
                yield _traffic(stream, nobody, None, rest.counters["technical_success"])


def _key(stream: Hourly) -> tuple[str, int | None, str]:
    return stream.digest, stream.publication, stream.cohort


def _by_hour(hours: Iterable[CellInTime]) -> dict[datetime, list[Sums]]:
    found: dict[datetime, list[Sums]] = defaultdict(list)
    for cell in hours:
        found[cell.at].append(cell.sums)
    return found


def _traffic(stream: Hourly, cell: CellInTime, route: str | None, successes: int) -> Traffic:
    return Traffic(cell.at, stream.digest, stream.cohort, cell.name, route, cell.sums, successes)


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
