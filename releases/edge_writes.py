"""What edges say, written in batches: whatever waits while one is written makes the next.

A report is acknowledged when it is durable. That an edge was heard is written each second.
"""

import asyncio
import contextlib
import logging
import time
from dataclasses import dataclass

from psycopg import Error, OperationalError

from releases.edge_problems import EdgeProblem, some_seconds
from releases.edge_store import EdgeStore, Report

logger = logging.getLogger(__name__)
LARGEST_BATCH = 500
MOST_WAITING = 20_000
SAW_EVERY_S = 1.0


@dataclass(frozen=True)
class Said:
    """One report of one edge, and who waits for it to be durable."""

    edge_id: int
    product_id: int
    report: Report
    skew_ms: float | None
    stored: asyncio.Future[bool]

    def as_row(self) -> dict[str, object]:
        return {
            "edge": self.edge_id,
            "product": self.product_id,
            "number": self.report.publication,
            "state": self.report.state,
            "reason": self.report.reason[:2000],
            "open": self.report.open_sequences,
            "manifests": self.report.open_manifests,
            "skew": self.skew_ms,
        }


class Writes:
    """One writer of reports and one of who was heard, each started when there is something."""

    def __init__(self, store: EdgeStore) -> None:
        self._store = store
        self._said: list[Said] = []
        self._saw: dict[int, tuple[float, int | None]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def report(
        self, edge_id: int, product_id: int, report: Report, skew_ms: float | None
    ) -> bool:
        """Whether it names a publication that there was; durable when this returns."""
        if len(self._said) >= MOST_WAITING:
            detail = "More reports wait than are taken. What is active stays active."
            raise EdgeProblem(503, "busy", "Too many reports", detail, some_seconds())
        stored = asyncio.get_running_loop().create_future()
        self._said.append(Said(edge_id, product_id, report, skew_ms, stored))
        self._keep("reports")
        return bool(await stored)

    def saw(self, edge_id: int, downloaded: int | None = None) -> None:
        """An edge was heard; `downloaded` is the publication that it was handed."""
        _, before = self._saw.get(edge_id, (0.0, None))
        newest = max(filter(None, (before, downloaded)), default=None)
        self._saw[edge_id] = (time.monotonic(), newest)
        self._keep("saw")

    async def close(self) -> None:
        """Write what waits; who was heard in the last second is written without waiting for it."""
        for name, task in list(self._tasks.items()):
            if name == "saw":
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        await self._write_saw()

    def _keep(self, name: str) -> None:
        task = self._tasks.get(name)
        if task is None or task.done():
            work = self._reports() if name == "reports" else self._heard()
            self._tasks[name] = asyncio.create_task(work)

    async def _reports(self) -> None:
        while self._said:
            await self._write(self._next_batch())

    def _next_batch(self) -> list[Said]:
        """The oldest of each edge, by edge: two processes then lock rows in one order."""
        first: dict[int, Said] = {}
        rest: list[Said] = []
        for said in self._said:
            if said.edge_id in first or len(first) >= LARGEST_BATCH:
                rest.append(said)
            else:
                first[said.edge_id] = said
        self._said = rest
        return sorted(first.values(), key=lambda said: said.edge_id)

    async def _write(self, batch: list[Said]) -> None:
        try:
            stored = await self._store.report([said.as_row() for said in batch])
        except Error as error:
            # Away is away for all; else one row is at fault and its neighbours are not.
            if isinstance(error, OperationalError) or len(batch) == 1:
                self._failed(batch, error)
            else:
                for said in batch:
                    await self._write([said])
            return
        for said in batch:
            if not said.stored.done():
                said.stored.set_result(said.edge_id in stored)

    def _failed(self, batch: list[Said], error: Exception) -> None:
        for said in batch:
            if not said.stored.done():  # its edge may have gone meanwhile
                said.stored.set_exception(error)

    async def _heard(self) -> None:
        while self._saw:
            await asyncio.sleep(SAW_EVERY_S)
            await self._write_saw()

    async def _write_saw(self) -> None:
        taken, self._saw = self._saw, {}
        now = time.monotonic()
        rows = [
            {"edge": edge_id, "ago": now - at, "downloaded": downloaded}
            for edge_id, (at, downloaded) in sorted(taken.items())
        ]
        try:
            await self._store.saw(rows)
        except OperationalError:
            self._saw = taken | self._saw  # told again in a second; newer words win
        except Error:
            logger.exception("who was heard could not be written")
