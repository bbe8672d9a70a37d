"""Rehearses a rollback: fetches, verifies and compiles it as if it came, and activates nothing."""

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import UTC, datetime

import httpx
import msgspec

from orchid.edge.active import Active, activate
from orchid.edge.settings import EdgeSettings
from orchid.edge.sync import Sync
from orchid.engine.wire.bundle import BundleRefused
from orchid.engine.wire.drill import verify_drill

log = logging.getLogger(__name__)

TRIES = 3
RETRY_S = 0.5


class Answer(msgspec.Struct, frozen=True):
    """What this edge made of a rehearsal; `replicas` is None where no pool tells of itself."""

    edge: str
    state: str  # ready | refused
    reason: str
    fetch_ms: float
    prepare_ms: float
    replicas: int | None = None


class Rehearsal:
    """Answers the drills that the control plane hints at; the newest hint is the one that counts.

    `replicas` tells how many are ready in a pool, None where none of any pool is known here.
    """

    def __init__(
        self,
        settings: EdgeSettings,
        client: httpx.AsyncClient,
        sync: Sync,
        replicas: Callable[[str], int | None],
    ) -> None:
        self._settings, self._client, self._sync = settings, client, sync
        self._replicas = replicas
        self._hinted = asyncio.Event()
        self._drill, self._answered = 0, 0

    def hinted(self, drill: int) -> None:
        """There is a drill to answer; told twice, it is answered once."""
        if drill > self._answered:
            self._drill = drill
            self._hinted.set()

    async def run(self) -> None:
        """Answer one after the other, for ever."""
        while True:
            await self._hinted.wait()
            self._hinted.clear()
            drill = self._drill
            if drill > self._answered:
                self._answered = drill
                await self.rehearse(drill)

    async def rehearse(self, drill: int) -> None:
        """Fetch, try and answer one drill. A control plane that is away gets no answer."""
        path = f"/edge/v1/products/{self._settings.product}/drills/{drill}"
        began = time.perf_counter()
        token = await self._asked("GET", path)
        fetch_ms = (time.perf_counter() - began) * 1000
        if token is not None:
            answer = await self._tried(token, fetch_ms)
            await self._asked("POST", path, msgspec.json.encode(answer))

    async def _tried(self, token: str, fetch_ms: float) -> Answer:
        """Beside the requests that are being decided: a rehearsal may not hold them up."""
        began = time.perf_counter()
        try:
            active = await asyncio.to_thread(self._prepared, token)
        except BundleRefused as refused:
            prepare_ms = (time.perf_counter() - began) * 1000
            return self._answer(f"{refused.code}: {refused.message}", fetch_ms, prepare_ms, None)
        prepare_ms = (time.perf_counter() - began) * 1000
        pool = active.incumbent.pool
        ready = self._replicas(pool)
        reason = f"no_replica: no replica of pool {pool} is ready here" if ready == 0 else ""
        return self._answer(reason, fetch_ms, prepare_ms, ready)

    def _prepared(self, token: str) -> Active:
        settings, now = self._settings, datetime.now(UTC)
        bundle = verify_drill(token, self._sync.keys, product=settings.product, now=now)
        return activate(token, bundle, settings.name)

    def _answer(
        self, reason: str, fetch_ms: float, prepare_ms: float, replicas: int | None
    ) -> Answer:
        state = "refused" if reason else "ready"
        return Answer(self._settings.name, state, reason, fetch_ms, prepare_ms, replicas)

    async def _asked(self, method: str, path: str, content: bytes | None = None) -> str | None:
        """The answer's text; None where the control plane has none, or is away."""
        for left in reversed(range(TRIES)):
            try:
                answer = await self._client.request(method, path, content=content)
                if answer.status_code < 500:
                    return answer.text if answer.is_success else None
            except httpx.HTTPError as problem:
                log.info("a drill can't be answered: %s", problem or type(problem).__name__)
            if left:
                await asyncio.sleep(RETRY_S)
        return None
