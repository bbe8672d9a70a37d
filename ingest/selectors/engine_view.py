"""Latency, outcomes and cost as engines tell them, by route: what an operator sees without an edge.

An engine never sees a request that it was not sent, calls a model's error an answer and a client
that left a success, so nothing here is a success and no gate rests on it.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import add
from typing import Any

from django.db import connection

from ingest.selectors import engine_sql
from ingest.selectors.engine_cost import Cost, FleetEstimate, Summed, cost_of, fleet_estimate
from ingest.selectors.routes import mappings, newest_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.usage import Convention, Usage
from policies.models import Product

METHOD = "nearest rank over every execution that has the phase, however it ended"


@dataclass(frozen=True)
class Percentiles:
    """Milliseconds by nearest rank; None where no execution has the phase."""

    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


@dataclass(frozen=True)
class Seen:
    """What engines tell of one route, or of one model of it; `model` is None for the route."""

    route: str
    model: str | None
    executions: int
    endings: Mapping[str, int]
    request: Percentiles
    queue: Percentiles
    compute: Percentiles
    first_token: Percentiles
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    cost: Cost

    @property
    def answered(self) -> int:
        """Executions that ended with an answer, as the engine tells: a model's error is one too."""
        return self.endings.get("answered", 0)


@dataclass(frozen=True)
class Step:
    """One stretch of the window and one route of it."""

    at: datetime
    route: str
    executions: int
    p50: float | None
    p95: float | None


@dataclass(frozen=True)
class EngineView:
    """A window of executions. `capped` says that it holds more than was read."""

    since: datetime
    until: datetime
    routes: Sequence[Seen]
    models: Sequence[Seen]
    unmapped: Sequence[Seen]
    inner: Mapping[str, int]
    steps: Sequence[Step]
    fleet: FleetEstimate | None
    read_from: datetime | None
    capped: bool

    @property
    def executions(self) -> int:
        return sum(one.executions for one in (*self.routes, *self.unmapped))


def engine_view(product: Product, since: datetime, until: datetime, step_s: int) -> EngineView:
    """The executions that arrived from `since` on: the newest of them, up to a bound."""
    document = newest_document(product)
    asked = asked_of(product, document, since) | {"step_s": step_s}
    times, tokens = read(engine_sql.TIMES, asked), read(engine_sql.TOKENS, asked)
    seen = [_seen(row, tokens, document) for row in times]
    inner = dict(read(engine_sql.INNER, asked))
    routes = [one for one in seen if one.route and one.model is None]
    read_from = min((row[3] for row in times), default=None)
    unmapped = [one for one in seen if not one.route and one.model is not None]
    counted = sum(one.executions for one in (*routes, *unmapped)) + sum(inner.values())
    return EngineView(
        since=since,
        until=until,
        routes=routes,
        models=[one for one in seen if one.route and one.model is not None],
        unmapped=unmapped,
        inner=inner,
        steps=[Step(*row) for row in read(engine_sql.OVER_TIME, asked) if row[1]],
        fleet=_fleet(document, routes, read_from, until),
        read_from=read_from,
        capped=counted >= engine_sql.MOST,
    )


def asked_of(product: Product, document: PolicyDocument | None, since: datetime) -> dict[str, Any]:
    told = list(mappings(product))
    prices = {} if document is None else document.prices
    long = {route: price.long_prompt for route, price in prices.items() if price.long_prompt}
    return {
        "product": product.pk,
        "since": since,
        "most": engine_sql.MOST,
        "sources": [row.source_id for row in told],
        "models": [row.model for row in told],
        "routes": [row.route for row in told],
        "priced": list(prices),
        "dear_routes": list(long),
        "dear_above": [tier.above_tokens for tier in long.values()],
    }


def read(statement: str, asked: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, asked)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _seen(
    row: tuple[Any, ...], tokens: Iterable[tuple[Any, ...]], document: PolicyDocument | None
) -> Seen:
    route, model, executions, _, request, queue, compute, first_token = row
    mine = [one for one in tokens if one[0] == route and model in (None, one[1])]
    known = [one for one in mine if one[5]]
    return Seen(
        route=route,
        model=model,
        executions=executions,
        endings=_endings(mine),
        request=_percentiles(request),
        queue=_percentiles(queue),
        compute=_percentiles(compute),
        first_token=_percentiles(first_token),
        input_tokens=_total(known, 7),
        cached_tokens=_total(known, 8),
        output_tokens=_total(known, 10),
        cost=cost_of(document, route, map(_summed, mine)),
    )


def _percentiles(told: Sequence[float | None] | None) -> Percentiles:
    return Percentiles(*(told or ()))


def _total(rows: Sequence[tuple[Any, ...]], column: int) -> int | None:
    return sum(int(row[column]) for row in rows) if rows else None


def _endings(rows: Iterable[tuple[Any, ...]]) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        counts[row[2]] += row[6]
    return dict(sorted(counts.items(), key=lambda pair: -pair[1]))


def _summed(row: tuple[Any, ...]) -> Summed:
    _, model, _, convention, long_prompt, known, executions, *sums = row
    plain, cached, written, output = map(int, sums)
    told = Usage(plain, cached, written, output, Convention(convention))
    usage = told if known else None
    return Summed(model, executions, long_prompt, usage)


def _fleet(
    document: PolicyDocument | None,
    routes: Sequence[Seen],
    read_from: datetime | None,
    until: datetime,
) -> FleetEstimate | None:
    """Of the executions that no price covers, since the first that was read."""
    if document is None or read_from is None:
        return None
    own = sum(one.cost.unpriced for one in routes)
    return fleet_estimate(document, own, until - read_from)


def total_cost(routes: Sequence[Seen]) -> Cost:
    """Of every route."""
    return reduce(add, (one.cost for one in routes), Cost())
