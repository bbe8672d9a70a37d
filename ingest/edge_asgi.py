"""The edges' own entry for telemetry: what they send each second, beside Django's middleware.

The checks, the statement and the answers are those of `ingest/services/storing.py`, which Django's
views use too; what differs is that nothing here waits in a thread of its own. Whoever comes without
a bearer token is left to Django.
"""

import time

import msgspec
from django.db import DatabaseError, InterfaceError
from psycopg import Error as DriverError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from controlplane import metrics
from controlplane.errors import PROBLEM_JSON, Problem, problem_body, unavailable
from controlplane.middleware import identity_of
from controlplane.web import whole_number
from ingest.deliveries import Sender, batch_id_of, encoding_of, meta_of, refuse_over
from ingest.edge_store import Telemetry, bearer_of
from ingest.services.encoding import MAX_BODY
from ingest.services.storing import Delivery, SourceKey
from ingest.states import SourceKind

#: What is delivered where: what its source is, and what its batches are. What a candidate would
#: have decided has a source of its own, so that it never holds up the watermark of the requests.
KINDS = {
    "requests": (SourceKind.EDGE, SourceKind.EDGE),
    "rollups": (SourceKind.EDGE, SourceKind.ROLLUP),
    "shadow": (SourceKind.SHADOW, SourceKind.SHADOW),
}


class TelemetryEntry:
    """ASGI: deliveries of edges by themselves, everything else by `django`."""

    def __init__(self, django: ASGIApp, dsn: str) -> None:
        self.django, self.telemetry = django, Telemetry(dsn)

    def routes(self) -> list[Route]:
        """For the server's router, before Django's mount; other methods fall through to it."""
        return [
            Route(f"/api/v1/ingest/{name}", _Door(self, name), methods=["POST"]) for name in KINDS
        ]

    async def close(self) -> None:
        await self.telemetry.close()


class _Door:
    """One of the entry's addresses, measured and named like Django's view of it."""

    def __init__(self, entry: TelemetryEntry, name: str) -> None:
        self._entry, self._route = entry, f"ingest-{name}"
        self._source, self._kind = KINDS[name]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not bearer_of(scope):
            await self._entry.django(scope, receive, send)
            return
        began, request = time.perf_counter(), Request(scope, receive)
        try:
            answer = await self._answer(request)
        except ClientDisconnect:
            return
        except Exception:
            self._observe(500, began)
            raise
        self._observe(answer.status_code, began)
        answer.headers["X-Request-Id"] = identity_of(request.headers.get("X-Request-Id", ""))
        await answer(scope, receive, send)

    def _observe(self, status: int, began: float) -> None:
        metrics.observe(self._route, "POST", status, time.perf_counter() - began)

    async def _answer(self, request: Request) -> Response:
        try:
            sender = await self._entry.telemetry.sender(request)
            delivery = await self._delivery(request, sender)
            new, receipt = await self._entry.telemetry.stored(delivery)
        except Problem as problem:
            return problem_answer(problem, request)
        except (DatabaseError, InterfaceError, DriverError) as error:
            away = unavailable(error)
            if away is None:
                raise
            return problem_answer(away, request)
        return Response(
            msgspec.json.encode(receipt), 202 if new else 200, media_type="application/json"
        )

    async def _delivery(self, request: Request, sender: Sender) -> Delivery:
        return Delivery(
            product=sender.product.pk,
            slug=sender.product.slug,
            source=SourceKey(self._source, sender.name),
            batch_id=batch_id_of(request),
            kind=self._kind,
            body=await _body(request),
            content_type=request.headers.get("Content-Type", ""),
            encoding=encoding_of(request),
            meta=meta_of(request),
        )


async def _body(request: Request) -> bytes:
    """The body, refused while it is still coming in when it is larger than it may be."""
    refuse_over(MAX_BODY, whole_number(request.headers.get("Content-Length", "")) or 0)
    parts = bytearray()
    async for part in request.stream():
        parts += part
        refuse_over(MAX_BODY, len(parts))
    return bytes(parts)


def problem_answer(problem: Problem, request: Request) -> Response:
    """As `controlplane.errors.respond` answers a machine."""
    headers = dict(problem.headers)
    if problem.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="orchid"'
    body = msgspec.json.encode(problem_body(problem, request.url.path))
    return Response(body, problem.status, headers, media_type=PROBLEM_JSON)
