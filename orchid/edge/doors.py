"""The edge's HTTP: parse, ask the service, answer."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from orchid.edge.answers import answered, as_json, charge_of, moment, problem
from orchid.edge.ask import Admit, AskT, Cancel, Settle, Tell, read, refuse_far_moment
from orchid.edge.journal import JournalError
from orchid.edge.problems import EdgeError
from orchid.edge.service import Service
from orchid.edge.status import status_of
from orchid.edge.sync import Sync
from orchid.edge.telemetry import Telemetry
from orchid.engine.wire.diagnosis import RecordError

LARGEST_ASK = 64 * 1024


class Doors:
    """The routes of one edge."""

    def __init__(self, service: Service, sync: Sync, telemetry: Telemetry) -> None:
        self.service, self.sync, self.telemetry = service, sync, telemetry
        self.routes = [
            Route("/v1/admit", _guarded(self.admit), methods=["POST"]),
            Route("/v1/settle", _guarded(self.settle), methods=["POST"]),
            Route("/v1/cancel", _guarded(self.cancel), methods=["POST"]),
            Route("/v1/signals", _guarded(self.signals), methods=["POST"]),
            Route("/v1/status", self.status),
            Route("/healthz", self.healthz),
            Route("/readyz", self.readyz),
            Route("/metrics", self.metrics),
        ]

    async def admit(self, request: Request) -> Response:
        """200 with the attempt and where it runs, 202 deferred, or a refusal (orchid.refusal/v1).

        With `?explain=1` each question that was put to each option, with its arithmetic.
        """
        ask = await _read(request, Admit)
        refuse_far_moment(ask.arrived_at, "arrived_at", self.service.now_ms())
        explain = request.query_params.get("explain") == "1"
        answer = await self.service.admit(ask, explain=explain)
        return answered(answer, self.service.fleet, explain=explain)

    async def settle(self, request: Request) -> Response:
        """`settled` is false when the attempt had ended before; 404 when nobody knows it.

        `open_until` is there while the request stays open for another attempt, `charge` where
        something was reserved. Work past the reserved output is charged too and said apart.
        """
        settled = await self.service.settle(await _read(request, Settle))
        until = {} if settled.until_ms is None else {"open_until": moment(settled.until_ms)}
        return as_json({"settled": settled.now, **until, **charge_of(settled)})

    async def cancel(self, request: Request) -> Response:
        """`released`, or `asked` while the server still holds the state, or `ended` before."""
        return as_json({"state": await self.service.cancel(await _read(request, Cancel))})

    async def signals(self, request: Request) -> Response:
        """204 when a replica's word about itself is taken; 404 for one that isn't known."""
        tell = await _read(request, Tell)
        refuse_far_moment(tell.at, "at", self.service.now_ms())
        self.service.tell(tell)
        return Response(status_code=204)

    async def status(self, _: Request) -> Response:
        return as_json(await status_of(self.service, self.sync, self.telemetry))

    async def healthz(self, _: Request) -> Response:
        """The process answers, whatever it has to decide by."""
        return as_json({"status": "ok" if self.sync.active else "no_bundle"})

    async def readyz(self, _: Request) -> Response:
        """Whether there is a generation to decide by."""
        ready = self.sync.active is not None
        return as_json({"ready": ready}, 200 if ready else 503)

    async def metrics(self, _: Request) -> Response:
        return Response(self.service.metrics.text(), media_type="text/plain; version=0.0.4")


Door = Callable[[Request], Awaitable[Response]]


def _guarded(door: Door) -> Door:
    """A problem document for what can't be answered: unreadable, unknown, or not written down."""

    async def opened(request: Request) -> Response:
        try:
            return await door(request)
        except EdgeError as found:
            return problem(found)
        except RecordError as error:
            return problem(EdgeError(400, error.code, "Unreadable question", error.message))
        except JournalError as error:
            title = "The journal can't be written"
            return problem(EdgeError(503, "journal_failed", title, str(error)))

    return opened


async def _read(request: Request, kind: type[AskT]) -> AskT:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_ASK:
            raise EdgeError(413, "too_large", "Too large", f"at most {LARGEST_ASK} bytes")
    return read(bytes(body), kind)
