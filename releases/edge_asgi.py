"""The edges' own entry: bundle, keys and activations, beside Django and without its middleware."""

import re
from datetime import UTC, datetime
from hashlib import sha256

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from releases.edge_hub import Hub
from releases.edge_store import Caller, EdgeStore, Report, conninfo
from releases.keys import public_keys
from releases.states import ActivationState

LONGEST_WAIT_S = 30.0
LARGEST_REPORT = 64 * 1024
SLUG = re.compile(r"[A-Za-z0-9_-]{1,64}")
EDGE_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
WAIT = re.compile(r"(?:^|[\s,])wait=(\d{1,4})(?:$|[\s,;])")


class EdgeProblem(Exception):  # noqa: N818 - it is answered, not only raised
    """A refusal with a stable code, answered as an RFC 9457 document."""

    def __init__(self, status: int, code: str, title: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.code, self.title, self.detail = status, code, title, detail


def create_app(dsn: str | None = None) -> Starlette:
    """The application; its database connections open with its first request."""
    app = Starlette(
        routes=[
            Route("/v1/products/{product}/bundle", bundle),
            Route("/v1/products/{product}/keys", keys),
            Route("/v1/products/{product}/activations", activations, methods=["POST"]),
        ],
        exception_handlers={EdgeProblem: _answered},
    )
    app.state.hub = Hub(EdgeStore(dsn or conninfo()))
    return app


async def bundle(request: Request) -> Response:
    """The newest signed bundle; 304 while its tag is the one that is active at the edge.

    An edge that refused a bundle still names the tag it runs, so it is offered the body again.
    """
    hub, caller = await _asking(request)
    edge = await hub.store.edge_of(caller)
    if edge is not None:
        await hub.store.saw(edge["id"])
    active = request.headers.get("If-None-Match", "")
    found = await hub.newer_than(caller.product, active, _wait_s(request) if active else 0.0)
    if found is not None:
        headers = {"ETag": found.etag, "Cache-Control": "no-cache"}
        return Response(found.token, media_type="application/jose", headers=headers)
    if active and (known := await hub.served(caller.product)):
        return Response(status_code=304, headers={"ETag": known.etag})
    raise EdgeProblem(404, "nothing_published", "Nothing published", "Ask again later.")


async def keys(request: Request) -> Response:
    """Register the edge by its credential and give the public keys that it pins first."""
    hub, caller = await _asking(request)
    found = public_keys()
    name = _edge_name(request, caller)
    await _registered(hub, caller, name, list(found))
    return JSONResponse({"edge": name, "product": caller.product, "keys": found})


async def activations(request: Request) -> Response:
    """What the edge runs or refuses, with the sequences still open under each digest."""
    hub, caller = await _asking(request)
    report = _read_report(await _body(request))
    edge_id = await _registered(hub, caller, report.edge, list(public_keys()))
    stored = await hub.store.report(caller, edge_id, report, datetime.now(UTC))
    if not stored:
        await hub.store.saw(edge_id)
        detail = f"{caller.product} has no publication {report.publication}."
        raise EdgeProblem(404, "unknown_publication", "Unknown publication", detail)
    return JSONResponse({"recorded": True})


async def _asking(request: Request) -> tuple[Hub, Caller]:
    """Who asks, by the hash of the bearer token; 401 also where the product isn't covered."""
    hub: Hub = request.app.state.hub
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    hashed = sha256(token.strip().encode()).hexdigest()
    product = request.path_params["product"]
    if scheme.lower() == "bearer" and SLUG.fullmatch(product):
        caller = await hub.store.caller(hashed, product)
        if caller is not None:
            return hub, caller
    raise EdgeProblem(
        401, "unauthenticated", "Unknown edge", "A live edge token of this product is needed."
    )


def _edge_name(request: Request, caller: Caller) -> str:
    name = request.headers.get("Orchid-Edge", caller.name)
    if not EDGE_NAME.fullmatch(name):
        raise EdgeProblem(400, "bad_name", "Bad edge name", "Letters, digits, . _ - only.")
    return name


async def _registered(hub: Hub, caller: Caller, name: str, kids: list[str]) -> int:
    edge = await hub.store.register(caller, name, kids)
    if edge is None:
        detail = "One credential stands for one edge. Issue another for another edge."
        raise EdgeProblem(409, "edge_name_taken", "Another edge", detail)
    return int(edge["id"])


def _wait_s(request: Request) -> float:
    """Seconds of `Prefer: wait=N` (RFC 7240), bounded."""
    found = WAIT.search(request.headers.get("Prefer", ""))
    return min(float(found[1]), LONGEST_WAIT_S) if found else 0.0


async def _body(request: Request) -> bytes:
    """The body, refused while it is still coming in when it is larger than a report can be."""
    parts = bytearray()
    async for part in request.stream():
        parts += part
        if len(parts) > LARGEST_REPORT:
            raise EdgeProblem(413, "too_large", "Too large", "A report is at most 64 KiB.")
    return bytes(parts)


def _read_report(body: bytes) -> Report:
    try:
        report = msgspec.json.decode(body, type=Report)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EdgeProblem(400, "bad_report", "Unreadable report", str(error)) from error
    if report.state not in ActivationState.values or not EDGE_NAME.fullmatch(report.edge):
        states = ", ".join(ActivationState.values)
        raise EdgeProblem(400, "bad_report", "Unreadable report", f"state is one of {states}.")
    return report


async def _answered(request: Request, problem: Exception) -> Response:
    if not isinstance(problem, EdgeProblem):
        raise problem
    body = {
        "type": f"urn:orchid:problem:{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code,
        "instance": request.url.path,
    }
    headers = {"WWW-Authenticate": 'Bearer realm="orchid"'} if problem.status == 401 else None
    return JSONResponse(
        body, status_code=problem.status, media_type="application/problem+json", headers=headers
    )
