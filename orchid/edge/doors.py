"""The edge's HTTP: parse, ask the service, answer."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from orchid.edge.ask import Admit, AskT, Cancel, Settle, read, refuse_far_arrival
from orchid.edge.journal import JournalError
from orchid.edge.service import Granted, Refused, Service
from orchid.edge.sync import Sync
from orchid.edge.telemetry import Telemetry
from orchid.engine.wire.diagnosis import RecordError

LARGEST_ASK = 64 * 1024
NO_BUNDLE_AFTER_MS = 2000


class Doors:
    """The routes of one edge."""

    def __init__(self, service: Service, sync: Sync, telemetry: Telemetry) -> None:
        self.service, self.sync, self.telemetry = service, sync, telemetry
        self.routes = [
            Route("/v1/admit", _written(self.admit), methods=["POST"]),
            Route("/v1/settle", _written(self.settle), methods=["POST"]),
            Route("/v1/cancel", _written(self.cancel), methods=["POST"]),
            Route("/v1/status", self.status),
            Route("/healthz", self.healthz),
            Route("/readyz", self.readyz),
            Route("/metrics", self.metrics),
        ]

    async def admit(self, request: Request) -> Response:
        """200 with the attempt and where it runs, or a refusal (orchid.refusal/v1)."""
        ask = await _read(request, Admit)
        if isinstance(ask, Response):
            return ask
        try:
            refuse_far_arrival(ask, self.service.now_ms())
        except RecordError as error:
            return _unreadable(error)
        answer = await self.service.admit(ask)
        return _grant(answer) if isinstance(answer, Granted) else _refusal(answer)

    async def settle(self, request: Request) -> Response:
        """`settled` is false when the attempt had ended before; 404 when nobody knows it."""
        ask = await _read(request, Settle)
        if isinstance(ask, Response):
            return ask
        settled = await self.service.settle(ask)
        if settled is None:
            return _unknown(ask.attempt_id)
        return _json({"settled": settled})

    async def cancel(self, request: Request) -> Response:
        """`released`, or `asked` while the server still holds the state, or `ended` before."""
        ask = await _read(request, Cancel)
        if isinstance(ask, Response):
            return ask
        state = await self.service.cancel(ask)
        return _unknown(ask.attempt_id) if state is None else _json({"state": state})

    async def status(self, _: Request) -> Response:
        """What this edge is on, for people and for `orchid status`."""
        active, spool = self.sync.active, await self.service.journal.state()
        refusal = self.sync.refusal
        return _json(
            {
                "edge": self.service.edge,
                "product": self.service.product,
                "publication": active.bundle.publication if active else None,
                "kind": active.bundle.kind if active else None,
                "incumbent": active.incumbent.digest if active else None,
                "candidate": active.candidate.digest if active and active.candidate else None,
                "refused": {"publication": refusal.publication, "reason": refusal.reason}
                if refusal
                else None,
                "pools": {
                    name: {"slots": pool.slots, "running": len(pool.running)}
                    for name, pool in self.service.state.pools.items()
                },
                "open_sequences": self.service.open_sequences(),
                "records_waiting": spool.waiting,
                "records_lost": spool.lost,
                "telemetry_problem": self.telemetry.last_problem,
            }
        )

    async def healthz(self, _: Request) -> Response:
        """The process answers, whatever it has to decide by."""
        return _json({"status": "ok" if self.sync.active else "no_bundle"})

    async def readyz(self, _: Request) -> Response:
        """Whether there is a generation to decide by."""
        ready = self.sync.active is not None
        return _json({"ready": ready}, 200 if ready else 503)

    async def metrics(self, _: Request) -> Response:
        return Response(self.service.metrics.text(), media_type="text/plain; version=0.0.4")


Door = Callable[[Request], Awaitable[Response]]


def _written(door: Door) -> Door:
    """503 where the journal can't be written: what is not written down is not answered."""

    async def opened(request: Request) -> Response:
        try:
            return await door(request)
        except JournalError as error:
            return _problem(503, "journal_failed", "The journal can't be written", str(error))

    return opened


async def _read(request: Request, kind: type[AskT]) -> AskT | Response:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_ASK:
            return _problem(413, "too_large", "Too large", f"at most {LARGEST_ASK} bytes")
    try:
        return read(bytes(body), kind)
    except RecordError as error:
        return _unreadable(error)


def _unreadable(error: RecordError) -> Response:
    return _problem(400, error.code, "Unreadable question", error.message)


def _grant(granted: Granted) -> Response:
    offer, record, endpoint = granted.decision.offer, granted.record, granted.endpoint
    assert offer is not None
    due = datetime.fromtimestamp(granted.decision.shape.due_ms / 1000.0, UTC)
    return _json(
        {
            "attempt_id": granted.attempt_id,
            "action": offer.action,
            "reason": offer.reason,
            "route": offer.route,
            "model": offer.route,
            "pool": offer.pool,
            "endpoints": {
                "grpc": endpoint.grpc if endpoint else None,
                "http": endpoint.http if endpoint else None,
            },
            "max_output_tokens": offer.output_tokens,
            "reserved_teu": str(offer.teu),
            "deadline_at": due.isoformat(),
            "publication": record.publication,
            "digest": record.digest,
            "cohort": record.cohort,
        }
    )


def _refusal(refused: Refused) -> Response:
    """orchid.refusal/v1: the reason, whether and when to come back, whose limit it was."""
    refusal = refused.decision.refusal if refused.decision else None
    after_ms = refusal.after_ms if refusal else NO_BUNDLE_AFTER_MS
    explained = refused.decision.explained if refused.decision else ()
    body = {
        "schema": "orchid.refusal/v1",
        "reason": refusal.reason if refusal else "no_bundle",
        "retryable": refusal.retryable if refusal else True,
        "after_ms": after_ms,
        "budget": refusal.budget if refusal else None,
        "generation": refused.digest,
        "explained": dict(explained),
    }
    wait = {"Retry-After": str(-(-after_ms // 1000))} if after_ms is not None else {}
    return _json(body, refusal.status if refusal else 503, wait)


def _unknown(attempt_id: str) -> Response:
    return _problem(404, "unknown_attempt", "Unknown attempt", f"no attempt {attempt_id} is open")


def _problem(status: int, code: str, title: str, detail: str) -> Response:
    body = {
        "type": f"urn:orchid:problem:{code}",
        "title": title,
        "status": status,
        "code": code,
        "detail": detail,
    }
    return Response(msgspec.json.encode(body), status, media_type="application/problem+json")


def _json(
    body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    return Response(msgspec.json.encode(body), status, headers, "application/json")
