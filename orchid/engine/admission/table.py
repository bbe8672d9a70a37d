"""The decision table: everything of a decision that does not depend on the moment, by cell.

A cell is a class in a segment. It is compiled when the first request of it comes and then found by
one look-up. Values that no rule names share a cell, so nobody outside can make the table grow; what
it remembers of spellings is bounded as well.
"""

from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

import msgspec

from orchid.engine.admission.cell import Cell
from orchid.engine.admission.compiler import CellTraits, Compiler
from orchid.engine.admission.recent import Recent
from orchid.engine.admission.request import AdmissionRequest, dimensions_of
from orchid.engine.admission.route import RoutePolicy
from orchid.engine.admission.shares import ShareTree
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import INPUT_BUCKET, OUTPUT_BUCKET, bucket_name, bucket_names

SPELLINGS_REMEMBERED = 4096
CELLS_REMEMBERED = 4096
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
        self._document, self._shares = document, shares
        self._compiler = Compiler(document, routes, shares, pool)
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
        traits = CellTraits(
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
        key = (
            frozenset(traits.dimensions.items()),
            *msgspec.structs.astuple(traits)[2:],
            traits.cls,
        )
        cell = self._cells.get(key)
        if cell is None:
            cell = self._compiler.cell(traits)
            self._cells.put(key, cell)
        return cell


def _within(value: str | None, named: frozenset[str]) -> str | None:
    return value if value in named else None


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
        found.setdefault(name, set()).update(bucket_names(edges))
    return {name: frozenset(values) for name, values in found.items()}
