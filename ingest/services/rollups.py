"""What a batch adds to the rollups: one sheet for each stream and step that it touches."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, LiteralString, NamedTuple, TypeVar

from django.db import connection

from ingest.models import Batch, RollupDelta
from ingest.services.dimensions import MANIFEST, ROUTE, capped_served
from ingest.states import RollupBy
from orchid.engine.clocks import CLOCK_OF_GATE, LatencyBound
from orchid.engine.rollup import RollupKey, Sums, TenantKey, merged
from orchid.engine.rollup_bytes import Sheet, pack
from orchid.engine.segments import segment_key
from policies.models import GateBound, Product


class Stream(NamedTuple):
    """A window's own part of a key."""

    by: str
    publication: int | None
    digest: str
    cohort: str


class Cell(NamedTuple):
    """The rest of a key: a combination of dimensions, route and manifest, or a tenant."""

    by: str
    dims_key: str = ""
    route: str = ""
    manifest: str = ""
    tenant: str = ""


Row = TypeVar("Row", Stream, Cell)
Placed = tuple[Stream, datetime, Cell]


def append_deltas(
    product: Product,
    batch: Batch,
    sums: Mapping[RollupKey, Sums],
    tenant_sums: Mapping[TenantKey, Sums],
) -> None:
    """Append what a batch adds, once in the batch's life. No row is ever updated.

    Routes and manifests past their bounds are counted as `other`, like values of dimensions.
    """
    served = capped_served(product, ((key.route, key.manifest) for key in sums))
    placed: dict[Placed, Sums] = {}
    for key, one in sums.items():
        route, manifest = served.value_of(ROUTE, key.route), served.value_of(MANIFEST, key.manifest)
        place = placed_cell(key._replace(route=route, manifest=manifest))
        placed[place] = merged(placed[place], one) if place in placed else one
    placed |= {placed_tenant(key): one for key, one in tenant_sums.items()}
    append(product, batch.pk, placed)


def append(product: Product, batch_pk: int, placed: Mapping[Placed, Sums]) -> None:
    """One delta for each stream and step."""
    streams = stream_ids(product, {stream for stream, _, _ in placed})
    cells = cell_ids(product, {cell for _, _, cell in placed})
    sheets: dict[tuple[int, datetime], Sheet] = defaultdict(dict)
    for (stream, step_at, cell), one in placed.items():
        sheets[streams[stream], step_at][cells[cell]] = one
    RollupDelta.objects.bulk_create(
        RollupDelta(stream_id=stream, step_at=step_at, batch_id=batch_pk, sheet=pack(sheet))
        for (stream, step_at), sheet in sorted(sheets.items(), key=lambda item: item[0])
    )


def placed_cell(key: RollupKey) -> Placed:
    """Where the sums of a key are added."""
    stream = Stream(RollupBy.CELL, key.publication, key.digest, key.cohort)
    cell = Cell(RollupBy.CELL, segment_key(dict(key.dims)), key.route, key.manifest)
    return stream, key.step_at, cell


def placed_tenant(key: TenantKey) -> Placed:
    """Where the sums of a tenant are added."""
    stream = Stream(RollupBy.TENANT, key.publication, key.digest, key.cohort)
    return stream, key.step_at, Cell(RollupBy.TENANT, tenant=key.tenant)


def stream_ids(product: Product, wanted: Iterable[Stream]) -> dict[Stream, int]:
    """The streams' ids, made on first sight."""
    return _ids(product, _STREAMS, wanted)


def cell_ids(product: Product, wanted: Iterable[Cell]) -> dict[Cell, int]:
    """The cells' ids, made on first sight."""
    return _ids(product, _CELLS, wanted)


def bounds_of(product: Product) -> tuple[LatencyBound, ...]:
    """Every latency bound that a generation of the product has: any of them may come to be live."""
    rows = GateBound.objects.filter(
        revision__generation__product=product, metric__in=CLOCK_OF_GATE
    ).values_list("metric", "bound")
    bounds = {LatencyBound(CLOCK_OF_GATE[metric], float(bound)) for metric, bound in rows}
    return tuple(sorted(bounds, key=lambda bound: bound.key))


@dataclass(frozen=True)
class _Table(Generic[Row]):
    """Names and ids: how rows that were given are found, and how new ones are made."""

    form: type[Row]
    find: LiteralString
    make: LiteralString


_STREAMS = _Table(
    Stream,
    """
    SELECT kept.id, given.*
    FROM unnest(%s::text[], %s::integer[], %s::text[], %s::text[])
        AS given(by, publication, digest, cohort)
    JOIN ingest_rollupstream AS kept USING (by, digest, cohort)
    WHERE kept.product_id = %s AND kept.publication IS NOT DISTINCT FROM given.publication
    """,
    """
    INSERT INTO ingest_rollupstream (by, publication, digest, cohort, product_id)
    SELECT given.*, %s
    FROM unnest(%s::text[], %s::integer[], %s::text[], %s::text[])
        AS given(by, publication, digest, cohort)
    ON CONFLICT DO NOTHING
    """,
)
_CELLS = _Table(
    Cell,
    """
    SELECT kept.id, given.*
    FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[])
        AS given(by, dims_key, route, manifest, tenant)
    JOIN ingest_rollupcell AS kept USING (by, dims_key, route, manifest, tenant)
    WHERE kept.product_id = %s
    """,
    """
    INSERT INTO ingest_rollupcell (by, dims_key, route, manifest, tenant, product_id)
    SELECT given.*, %s
    FROM unnest(%s::text[], %s::text[], %s::text[], %s::text[], %s::text[])
        AS given(by, dims_key, route, manifest, tenant)
    ON CONFLICT DO NOTHING
    """,
)


def _ids(product: Product, table: _Table[Row], wanted: Iterable[Row]) -> dict[Row, int]:
    """Sorted before they are made, so that no two workers wait for each other in a ring.

    What another worker makes at the same moment is taken from it.
    """
    rows = sorted(set(wanted), key=lambda row: tuple(map(str, row)))
    found = _known(product, table, rows)
    missing: list[Row] = [row for row in rows if row not in found]
    if missing:
        with connection.cursor() as cursor:
            cursor.execute(table.make, [product.pk, *_columns(table, missing)])
        found |= _known(product, table, missing)
    return found


def _known(product: Product, table: _Table[Row], rows: Sequence[Row]) -> dict[Row, int]:
    with connection.cursor() as cursor:
        cursor.execute(table.find, [*_columns(table, rows), product.pk])
        return {table.form(*values): found for found, *values in cursor.fetchall()}


def _columns(table: _Table[Row], rows: Sequence[Row]) -> list[list[object]]:
    return [[row[place] for row in rows] for place in range(len(table.form._fields))]
