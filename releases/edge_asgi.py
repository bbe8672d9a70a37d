"""The edges' own entry: bundle, stream, keys and activations, beside Django and its middleware."""

import asyncio
import contextlib
import re
import time
from datetime import UTC, datetime

from django.conf import settings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from releases import edge_drills
from releases.edge_bodies import EDGE_NAME, body_of, read_report
from releases.edge_callers import is_live, shown_by
from releases.edge_hub import Hub
from releases.edge_problems import (
    ANSWERED,
    EdgeProblem,
    answered,
    bad_name,
    some_seconds,
    stranger,
)
from releases.edge_reports import report_every_s
from releases.edge_store import Caller, EdgeStore, Report, Served, conninfo
from releases.edge_stream import EventStream
from releases.keys import public_keys

LONGEST_WAIT_S = 30.0
NEWS_PER_S = 500  # of edges that have news: at one moment, while others still wait for it
SLUG = re.compile(r"[A-Za-z0-9_-]{1,64}")
WAIT = re.compile(r"(?:^|[\s,])wait=(\d{1,4})(?:$|[\s,;])")


def create_app(dsn: str | None = None, at_most: int | None = None) -> Starlette:
    """The application; its database connections open with its first request.

    `at_most` streams and long polls are held open in this process.
    """
    app = Starlette(
        routes=[
            Route("/v1/stream", stream, methods=["GET"]),
            Route("/v1/products/{product}/bundle", bundle),
            Route("/v1/products/{product}/keys", keys),
            Route("/v1/products/{product}/activations", activations, methods=["POST"]),
            Route("/v1/products/{product}/drills/{drill}", drill, methods=["GET", "POST"]),
        ],
        exception_handlers=dict.fromkeys(ANSWERED, answered),
    )
    app.router.redirect_slashes = False  # it would send an edge wherever a Host header says
    store = EdgeStore(dsn or conninfo())
    app.state.hub = Hub(store, at_most or settings.EDGES.held)
    app.state.rehearsals = edge_drills.Rehearsals(store)
    return app


async def stream(request: Request) -> Response:
    """Each newest bundle as it is published; at once, when it isn't the one that is active."""
    hub, caller = await _asking(request)
    if hub.is_full:
        detail = f"{hub.at_most} streams are open. Poll with the tag of what is active."
        raise EdgeProblem(503, "too_many_streams", "No stream left", detail, some_seconds())
    await hub.newest(caller.product)
    _saw(hub, caller)
    return EventStream(hub, caller, _active_tag(request))


async def bundle(request: Request) -> Response:
    """The newest signed bundle; 304 while its tag is the one that is active at the edge.

    An edge that refused a bundle still names the tag it runs, so it is offered the body again.
    """
    hub, caller = await _asking(request)
    _saw(hub, caller)
    active = _active_tag(request)
    found = await hub.newest(caller.product)
    if found is None:
        raise EdgeProblem(404, "nothing_published", "Nothing published", "Ask again later.")
    if found.etag == active and (wait_s := _wait_s(request)):
        found, headers = await _awaited(hub, caller, found, wait_s)
    else:
        headers = {}
    headers |= {"ETag": found.etag, "Cache-Control": "no-cache"}
    if found.etag == active:
        return Response(status_code=304, headers=headers)
    _saw(hub, caller, found)
    return Response(found.token, media_type="application/jose", headers=headers)


async def keys(request: Request) -> Response:
    """Register the edge by its credential and give the public keys that it pins first."""
    hub, caller = await _asking(request)
    found = public_keys()
    name = request.headers.get("Orchid-Edge", caller.name)
    await _registered(hub, caller, name, list(found))
    return JSONResponse({"edge": name, "product": caller.product, "keys": found})


async def activations(request: Request) -> Response:
    """What the edge runs or refuses, with the sequences still open; recorded when answered."""
    hub, caller = await _asking(request)
    report = read_report(await body_of(request))
    edge_id = caller.edge_id
    if edge_id is None or report.edge != caller.edge:
        edge_id = await _registered(hub, caller, report.edge, list(public_keys()))
    skew_ms = _skew_ms(report)
    if not await hub.writes.report(edge_id, caller.product_id, report, skew_ms):
        hub.writes.saw(edge_id)
        detail = f"{caller.product} has no publication {report.publication}."
        raise EdgeProblem(404, "unknown_publication", "Unknown publication", detail)
    edges = len(hub.callers)
    every_s, within_s = report_every_s(edges), edges / NEWS_PER_S
    return JSONResponse({"recorded": True, "report_every_s": every_s, "news_within_s": within_s})


async def drill(request: Request) -> Response:
    """A rehearsed rollback to try, and what the edge made of it."""
    _, caller = await _asking(request)
    number = edge_drills.number_of(request)
    rehearsals: edge_drills.Rehearsals = request.app.state.rehearsals
    if request.method == "POST":
        return await edge_drills.answer(rehearsals, caller, number, await body_of(request))
    return await edge_drills.offered(rehearsals, caller, number)


async def _awaited(
    hub: Hub, caller: Caller, found: Served, wait_s: float
) -> tuple[Served, dict[str, str]]:
    """What is newer than `found`, as soon as there is something; `found` when the wait is over.

    A process that holds all it may answers at once, and asks not to be asked again at once.
    """
    if hub.is_full:
        return found, {"Retry-After": str(some_seconds())}
    deadline = time.monotonic() + wait_s
    with hub.holding(caller) as held:
        while not held.ended:
            held.woken.clear()
            newest = hub.known(caller.product)
            if newest is not None and newest.etag != found.etag:
                return newest, {}
            if held.drill is not None:
                return found, {"Orchid-Drill": str(held.drill)}
            if (left_s := deadline - time.monotonic()) <= 0:
                return found, {}
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(held.woken.wait(), left_s)
    if not is_live(caller) or not await hub.store.live_of([caller.credential_id]):
        raise stranger()
    return found, {}


async def _asking(request: Request) -> tuple[Hub, Caller]:
    """Who asks; 401 also where the product isn't covered."""
    hub: Hub = request.app.state.hub
    product = request.path_params.get("product")
    shown = shown_by(request.headers, settings.EDGES.proxy_secret)
    if shown and (product is None or SLUG.fullmatch(product)):
        caller = await hub.caller(shown)
        if caller is not None and product in (None, caller.product):
            return hub, caller
    raise stranger()


async def _registered(hub: Hub, caller: Caller, name: str, kids: list[str]) -> int:
    if not EDGE_NAME.fullmatch(name):
        raise bad_name()
    edge = await hub.store.register(caller, name, kids)
    if edge is None:
        detail = "One credential stands for one edge. Issue another for another edge."
        raise EdgeProblem(409, "edge_name_taken", "Another edge", detail)
    hub.callers.forget(caller.credential_id)  # it is an edge's now
    return int(edge["id"])


def _saw(hub: Hub, caller: Caller, handed: Served | None = None) -> None:
    if caller.edge_id is not None:
        hub.writes.saw(caller.edge_id, handed.publication if handed else None)


def _active_tag(request: Request) -> str:
    """A cache between us and the edge may call a tag weak; the bytes it stands for are the same."""
    return request.headers.get("If-None-Match", "").removeprefix("W/")


def _wait_s(request: Request) -> float:
    """Seconds of `Prefer: wait=N` (RFC 7240), bounded."""
    found = WAIT.search(request.headers.get("Prefer", ""))
    return min(float(found[1]), LONGEST_WAIT_S) if found else 0.0


def _skew_ms(report: Report) -> float | None:
    """How far the edge's clock is behind ours, the way of its report included."""
    sent_at = report.sent_at
    return (datetime.now(UTC) - sent_at).total_seconds() * 1000 if sent_at else None
