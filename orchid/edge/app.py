"""The edge as an ASGI application: its routes, and the tasks that run beside them."""

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
from starlette.applications import Starlette

from orchid.edge.doors import Doors
from orchid.edge.drill import Rehearsal
from orchid.edge.expiry import follow_expiry
from orchid.edge.journal import Journal
from orchid.edge.metrics import Metrics
from orchid.edge.pools import read_pools
from orchid.edge.reporter import Reporter
from orchid.edge.service import Service
from orchid.edge.settings import EdgeSettings
from orchid.edge.shadow_sender import ShadowSender
from orchid.edge.static_bundle import StaticFollower
from orchid.edge.stream import Stream
from orchid.edge.sync import Sync
from orchid.edge.telemetry import Telemetry
from orchid.edge.tls import TlsError

log = logging.getLogger(__name__)

POOLS_EVERY_S = 0.25
EXPIRE_EVERY_S = 1.0
FORGET_EVERY_S = 60.0
RENEW_EVERY_S = 10.0  # files may be replaced one after the other


def now_ms() -> float:
    """Unix milliseconds: arrivals and deadlines come from other machines' clocks."""
    return time.time_ns() / 1e6


class Edge:
    """One edge: its parts, wired."""

    def __init__(self, settings: EdgeSettings) -> None:
        self.settings, self.boot_id = settings, uuid.uuid4().hex
        self.metrics = Metrics()
        self.journal = Journal(settings.state_dir / "journal.sqlite")
        self.tls = settings.tls.context()
        self.client = httpx.AsyncClient(
            base_url=settings.url, headers=settings.headers, timeout=10, verify=self.tls
        )
        self.service = Service(settings.product, settings.name, self.journal, self.metrics, now_ms)
        self.sync = Sync(settings, self.client, self.metrics, self.service.activate)
        self.stream = Stream(self.client, self.sync)
        # Of its own, for another's server has no business with our token.
        self.static_client = httpx.AsyncClient(timeout=10)
        self.static = StaticFollower(settings, self.sync, self.static_client)
        self.rehearsal = Rehearsal(settings, self.client, self.sync, self.service.fleet.ready)
        self.sync.on_drill = self.rehearsal.hinted
        self.telemetry = Telemetry(
            self.client,
            self.journal,
            self.metrics,
            self.boot_id,
            now_ms,
            self.service.requests.earliest_unwritten_ms,
        )
        lines = self.service.shadow.lines.waiting
        self.shadow_sender = ShadowSender(self.client, lines, self.boot_id)
        self.reporter = Reporter(
            settings, self.client, self.sync, self.boot_id, self.service.requests
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Everything beside the routes: sync, reports, telemetry, pools, expiry."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.client.aclose)
            stack.push_async_callback(self.static_client.aclose)
            stack.push_async_callback(self.journal.close)
            await self.service.restore()
            self.sync.start()
            self.service.use_pools(read_pools(self.settings.pools_dir))
            tasks = [asyncio.create_task(self._kept_up(loop)) for loop in self._loops()]
            stack.push_async_callback(_stop, tasks)
            yield

    def _loops(self) -> list[Callable[[], Coroutine[Any, Any, None]]]:
        return [
            self.static.run if self.settings.bundle_url else self.sync.run,
            self.stream.run,
            self.reporter.run,
            self.rehearsal.run,
            self.telemetry.run,
            self.service.shadow.run,
            self.shadow_sender.run,
            self._watch_pools,
            self._expire,
            self._forget,
            self._renew,
        ]

    async def _kept_up(self, loop: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """A task that fails is told and started again; one fault must not silence the edge."""
        while True:
            try:
                await loop()
            except Exception:
                log.exception("%s failed and starts again", loop.__qualname__)
                await asyncio.sleep(1.0)

    async def _watch_pools(self) -> None:
        while True:
            self.service.use_pools(read_pools(self.settings.pools_dir))
            await asyncio.sleep(POOLS_EVERY_S)

    async def _expire(self) -> None:
        while True:
            await self.service.expire()
            follow_expiry(self.service, now_ms())
            requests = self.service.requests
            self.metrics.open_attempts.set(len(requests.open))
            self.metrics.resting.set(len(requests.resting))
            self.metrics.deferred.set(len(requests.deferred))
            await asyncio.sleep(EXPIRE_EVERY_S)

    async def _forget(self) -> None:
        while True:
            await self.service.forget()
            await asyncio.sleep(FORGET_EVERY_S)

    async def _renew(self) -> None:
        """Show a replaced certificate from the next connection on: theirs are short-lived."""
        tls, shown = self.settings.tls, self.settings.tls.state()
        while True:
            await asyncio.sleep(RENEW_EVERY_S)
            if (written := tls.state()) == shown:
                continue
            try:
                tls.renew(self.tls)
            except TlsError as refused:  # half written; what was read before still counts
                log.warning("the certificate is kept as it was: %s", refused)
            else:
                shown = written


def create_app(settings: EdgeSettings) -> Starlette:
    """The application of one edge; its tasks run for as long as it does."""
    edge = Edge(settings)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with edge.running():
            yield

    app = Starlette(routes=Doors(edge.service, edge.sync, edge.telemetry).routes, lifespan=lifespan)
    app.state.edge = edge
    return app


async def _stop(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel until all have ended: before Python 3.12 `wait_for` can lose a cancellation."""
    while pending := [task for task in tasks if not task.done()]:
        for task in pending:
            task.cancel()
        await asyncio.wait(pending, timeout=0.5)
