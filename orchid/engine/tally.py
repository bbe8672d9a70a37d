"""What many requests come to, by key and by tenant: the rules of one record, over columns.

Words are judged once for each distinct shape by `standing.py`, clocks over whole columns by
`clocks.py`; so the sums equal those of `outcome.py` record by record, which a test holds them to.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np

from orchid.engine.clocks import LatencyBound, has_gaps, in_time, keeps, latency_bounds
from orchid.engine.document.model import PolicyDocument
from orchid.engine.histogram import buckets_of
from orchid.engine.known import SAFE, Floats, Mask, Wholes
from orchid.engine.line_columns import LineColumns, columns_of, joined, numbers_of, priced_parts
from orchid.engine.outcome import BIT_OF, bits_of
from orchid.engine.rollup import RollupKey, Sums, TenantKey
from orchid.engine.standing import Facts, Standing, standing_of
from orchid.engine.sums_of_groups import UNCOUNTED, Grouping, Summed, sums_of_groups
from orchid.engine.waste import ending_of
from orchid.engine.wire.lines import Lines
from orchid.engine.wire.shapes import Shape
from orchid.engine.work_columns import wasted_figures

Dims = tuple[tuple[str, str], ...]


class Numbered(dict[Any, int]):
    """Numbers from 0 for whatever is met, in order."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number


class Told(NamedTuple):
    """What the rows of some lines need to know, in their order."""

    codes: Wholes
    numbers: Mapping[str, Floats]
    populations: Wholes
    deadline_ms: Floats
    arrived_us: Wholes
    teu: Wholes
    usd: Wholes


class _Judged(NamedTuple):
    """What documents make of shapes, a shape a place, or spread over the lines that have them."""

    always: Wholes
    if_in_time: Wholes
    if_gaps: Wholes
    delivered: Mask
    ending: Wholes
    latency_counted: Mask
    deadline_ms: Floats
    step_s: Wholes
    cell: Wholes
    stream: Wholes
    digest: Wholes
    by_table: Mask
    counted: Mask

    def spread(self, codes: Wholes) -> "_Judged":
        columns: list[Any] = [column[codes] for column in self]
        return _Judged(*columns)


class _Added(NamedTuple):
    codes: Wholes
    tenants: Wholes
    populations: Wholes
    columns: LineColumns


@dataclass
class Tally:
    """Counts lines as they are read; one that its edge counts in a rollup of its own has no part.

    `documents` are by digest: a line of another digest is a KeyError. `bounds` are counted for
    every record, each document's own beside them. `dims_of` and `tenant_of` say under which values
    a segment and a tenant are counted.
    """

    documents: Mapping[str, PolicyDocument]
    bounds: Sequence[LatencyBound]
    dims_of: Callable[[Mapping[str, str]], Dims]
    tenant_of: Callable[[str], str]
    #: The distinct shapes so far; the codes of lines are places in it.
    shapes: list[Shape] = field(default_factory=list)
    _codes: dict[Shape, int] = field(default_factory=dict)
    _cells: Numbered = field(default_factory=Numbered)
    _streams: Numbered = field(default_factory=Numbered)
    _digests: Numbered = field(default_factory=Numbered)
    _tenants: Numbered = field(default_factory=Numbered)
    _rows: list[tuple[Any, ...]] = field(default_factory=list)
    _by_shape: _Judged | None = None
    _added: list[_Added] = field(default_factory=list)

    def add(self, lines: Lines) -> Told:
        """Count some lines; what each of them is, for its row."""
        numbers = numbers_of(lines)
        codes, (columns, tried) = self._codes_of(lines.shapes), columns_of(lines, numbers)
        judged = self._judged(codes)
        punctual = in_time(columns.at, judged.deadline_ms)
        late = ~(punctual | np.isnan(columns.at.completion_ms))
        columns.figures.update(wasted_figures(tried, judged.ending, late, numbers["output_tokens"]))
        populations = judged.always | np.where(punctual, judged.if_in_time, 0)
        populations |= np.where(has_gaps(columns.at), judged.if_gaps, 0)
        columns = self._priced(lines, judged.by_table, columns, populations)
        populations = np.where(judged.counted, populations, 0)
        tenants = [self._tenants[one.tenant or ""] for one in lines.requests]
        self._added.append(_Added(codes, np.array(tenants, dtype=np.int64), populations, columns))
        return Told(
            codes,
            numbers,
            populations,
            np.minimum(judged.deadline_ms, columns.at.deadline_ms),
            columns.arrived_us,
            columns.teu,
            columns.usd,
        )

    def sums(
        self, chosen: Mask | None = None
    ) -> tuple[dict[RollupKey, Sums], dict[TenantKey, Sums]]:
        """By key and by tenant; of the chosen lines alone where a mask is given."""
        if not self._added:
            return {}, {}
        all_of = self._together()
        judged = self._judged(all_of.codes)
        chosen = judged.counted if chosen is None else judged.counted & chosen
        if not chosen.any():
            return {}, {}
        summed = self._summed(all_of, judged)
        started_s = all_of.columns.arrived_us // 1_000_000 // judged.step_s * judged.step_s
        cell, stream, tenants = judged.cell, judged.stream, all_of.tenants
        if not chosen.all():
            summed, started_s = summed.only(chosen), started_s[chosen]
            cell, stream, tenants = cell[chosen], stream[chosen], tenants[chosen]
        return (
            self._by_key(summed, started_s, cell),
            self._by_tenant(summed, started_s, stream, tenants),
        )

    def traffic(self, chosen: Mask | None = None) -> dict[str, int]:
        """How many of the same lines each tenant has, by its own name."""
        if not self._added:
            return {}
        all_of = self._together()
        counted = self._judged(all_of.codes).counted
        some = all_of.tenants[counted if chosen is None else counted & chosen]
        counts = np.bincount(some, minlength=len(self._tenants)).tolist()
        return {name: count for name, count in zip(self._tenants, counts, strict=True) if count}

    def _by_key(self, summed: Summed, started_s: Wholes, cell: Wholes) -> dict[RollupKey, Sums]:
        grouping = Grouping(_paired(cell, started_s))
        cells = list(self._cells)
        keys = [
            RollupKey(_moment(int(started_s[member])), *cells[cell[member]])
            for member in grouping.members
        ]
        return dict(zip(keys, sums_of_groups(summed, grouping), strict=True))

    def _by_tenant(
        self, summed: Summed, started_s: Wholes, stream: Wholes, tenants: Wholes
    ) -> dict[TenantKey, Sums]:
        """A request of nobody is in no sums of a tenant."""
        kept = Numbered()
        kept_as = [kept[self.tenant_of(name)] for name in self._tenants]
        tenants = np.array(kept_as, dtype=np.int64)[tenants]
        names, streams = list(kept), list(self._streams)
        named = np.array([bool(name) for name in names], dtype=np.bool_)[tenants]
        if not named.any():
            return {}
        if not named.all():
            summed, started_s = summed.only(named), started_s[named]
            stream, tenants = stream[named], tenants[named]
        grouping = Grouping(_paired(_paired(stream, tenants), started_s))
        keys = []
        for member in grouping.members:
            publication, digest, cohort = streams[stream[member]]
            at, tenant = _moment(int(started_s[member])), names[tenants[member]]
            keys.append(TenantKey(at, publication, digest, cohort, tenant))
        return dict(zip(keys, sums_of_groups(summed, grouping), strict=True))

    def _together(self) -> _Added:
        """All that was added as one, which it is from then on."""
        added = self._added
        if len(added) > 1:
            self._added = [
                _Added(
                    np.concatenate([one.codes for one in added]),
                    np.concatenate([one.tenants for one in added]),
                    np.concatenate([one.populations for one in added]),
                    joined([one.columns for one in added]),
                )
            ]
        return self._added[0]

    def _summed(self, added: _Added, judged: _Judged) -> Summed:
        columns, at = added.columns, added.columns.at
        known = judged.delivered & ~np.isnan(at.completion_ms)
        buckets = buckets_of(np.where(known, at.completion_ms, np.inf))
        bounds = self._bounds(judged.digest)
        whole = judged.delivered & judged.latency_counted
        return Summed(
            added.populations,
            np.where(judged.latency_counted, buckets, UNCOUNTED),
            {
                bound.key: asked & ((added.populations & BIT_OF[bound.population]) != 0)
                for bound, asked in bounds.items()
            },
            {bound.key: asked & whole & keeps(at, bound) for bound, asked in bounds.items()},
            columns.figures,
            columns.teu,
            columns.usd,
        )

    def _bounds(self, digests: Wholes) -> dict[LatencyBound, Mask]:
        """Every bound with the lines that are compared with it."""
        own = [set(latency_bounds(self.documents[digest])) for digest in self._digests]
        every = sorted({*self.bounds, *(bound for some in own for bound in some)}, key=_key)
        general = set(self.bounds)
        return {
            bound: np.array([bound in general or bound in some for some in own])[digests]
            for bound in every
        }

    def _codes_of(self, shapes: Sequence[Shape]) -> Wholes:
        """A shape is its object: two that are alike only mean one row more here."""
        known = self._codes
        for shape in [one for one in dict.fromkeys(shapes) if one not in known]:
            known[shape] = len(self.shapes)
            self.shapes.append(shape)
            self._rows.append(self._judge(shape))
        return np.array(list(map(known.__getitem__, shapes)), dtype=np.int64)

    def _priced(
        self, lines: Lines, by_table: Mask, columns: LineColumns, populations: Wholes
    ) -> LineColumns:
        """The columns with what the price tables say; lines that can't be priced are marked."""
        usd, places = columns.usd, np.flatnonzero(by_table).tolist()
        for place in places:
            prices = self.documents[lines.shapes[place].digest or ""].prices
            parts = priced_parts(lines.requests[place], lines.attempts[place], prices)
            if parts is None:
                populations[place] |= BIT_OF["unpriced"]
            else:
                usd = usd if parts < SAFE else usd.astype(object)
                usd[place] = parts
        return columns._replace(usd=usd)

    def _judge(self, shape: Shape) -> tuple[Any, ...]:
        digest = shape.digest or ""
        document = self.documents[digest]
        standing = _standing(digest, shape.facts, document)
        stream = (shape.publication, digest, shape.cohort)
        cell = (*stream, self.dims_of(shape.segment), shape.route, shape.manifest)
        return (
            *(bits_of(part) for part in (standing.always, standing.if_in_time, standing.if_gaps)),
            standing.delivered,
            ending_of(shape.facts),
            standing.latency_counted,
            standing.deadline_ms,
            document.gates.step_s,
            self._cells[cell],
            self._streams[stream],
            self._digests[digest],
            any(place in document.prices for place, _ in shape.facts.unpaid),
            not shape.in_rollup,
        )

    def _judged(self, codes: Wholes) -> _Judged:
        if self._rows:
            columns: list[Any] = [np.array(column) for column in zip(*self._rows, strict=True)]
            if self._by_shape is not None:
                both = zip(self._by_shape, columns, strict=True)
                columns = [np.concatenate(one) for one in both]
            self._by_shape = _Judged(*columns)
            self._rows.clear()
        assert self._by_shape is not None, "lines have a shape"
        return self._by_shape.spread(codes)


_MOST_FACTS = 50_000
_standings: dict[tuple[str, Facts], Standing] = {}


def _standing(digest: str, facts: Facts, document: PolicyDocument) -> Standing:
    """A digest names one document for ever, so what it says of facts is remembered."""
    known = _standings.get((digest, facts))
    if known is None:
        if len(_standings) > _MOST_FACTS:
            _standings.clear()
        known = _standings[digest, facts] = standing_of(facts, document)
    return known


def _key(bound: LatencyBound) -> str:
    return bound.key


def _paired(left: Wholes, right: Wholes) -> Wholes:
    """A number for each pair; every pair of a batch fits in 64 bits."""
    low = right - right.min()
    pairs: Wholes = left * (int(low.max()) + 1) + low
    return pairs


def _moment(seconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
