"""Sends records to the control plane until each is acknowledged, and says how far it has come."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import httpx

from orchid.edge.journal import Journal
from orchid.edge.metrics import Metrics
from orchid.edge.tables import Batch

BATCH_RECORDS = 500
EVERY_S = 1.0
IDLE_S = 5.0
LONGEST_RETRY_S = 10.0
# A request may reach the edge this long after its intended arrival; until then it may still come.
ARRIVAL_LAG_MS = 1000.0
# What a receiver may ask us to wait; longer, and its watermark stands still for nothing.
LONGEST_WAIT_S = 60.0
# The receiver read the batch and will never take it as it is.
HOPELESS = (400, 413, 422)


class Telemetry:
    """One sender. `earliest_unwritten_ms` is the earliest arrival that has no record yet."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        journal: Journal,
        metrics: Metrics,
        boot_id: str,
        now_ms: Callable[[], float],
        earliest_unwritten_ms: Callable[[], float | None],
    ) -> None:
        self._client, self._journal, self._metrics = client, journal, metrics
        self._boot_id, self._now_ms = boot_id, now_ms
        self._earliest_unwritten_ms = earliest_unwritten_ms
        self._said_at_ms = 0.0
        self._asked_to_wait_s = 0.0
        self.last_problem: str | None = None

    async def run(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Send for ever: every second what there is, full batches at once, failures later again.

        A receiver that is full or away says when to come again; it is not asked sooner.
        """
        failures = 0
        while True:
            sent = await self.send_once()
            failures = 0 if sent is not None else failures + 1
            if failures:
                growing_s = min(LONGEST_RETRY_S, EVERY_S * 2 ** min(failures - 1, 4))
                await sleep(max(growing_s, self._asked_to_wait_s))
            elif sent != BATCH_RECORDS:
                await sleep(EVERY_S)

    async def send_once(self) -> int | None:
        """Send one batch, an empty one when idle for long; None when it wasn't acknowledged."""
        batch = await self._journal.batch(f"{self._boot_id}-{uuid.uuid4().hex[:12]}", BATCH_RECORDS)
        if batch is None and self._now_ms() - self._said_at_ms < IDLE_S * 1000:
            return 0
        if batch is None:
            last = (await self._journal.state()).last_seq
            batch = Batch(f"{self._boot_id}-{uuid.uuid4().hex[:12]}", last + 1, last, ())
        return len(batch.lines) if await self._deliver(batch) else None

    async def watermark(self, batch: Batch) -> datetime:
        """All requests that arrived before this are in this batch or in earlier ones.

        Memory is read before the journal: a record that moves between them is then seen twice
        and never missed.
        """
        now_ms, unwritten = self._now_ms() - ARRIVAL_LAG_MS, self._earliest_unwritten_ms()
        behind = await self._journal.earliest_after(batch.last_seq)
        known = [moment for moment in (now_ms, unwritten, behind) if moment is not None]
        return datetime.fromtimestamp(min(known) / 1000.0, UTC)

    async def _deliver(self, batch: Batch) -> bool:
        self._asked_to_wait_s = 0.0
        try:
            answer = await self._client.post(
                "/api/v1/ingest/requests",
                content=b"".join(line + b"\n" for line in batch.lines),
                headers=await self._headers(batch),
            )
        except httpx.HTTPError as problem:
            self.last_problem = f"not delivered: {problem or type(problem).__name__}"
            return False
        if answer.status_code in HOPELESS and batch.lines:
            self.last_problem = f"{len(batch.lines)} records refused: {answer.text[:200]}"
            await self._done(batch, lost=len(batch.lines))
            return True
        if not answer.is_success:
            self.last_problem = f"answered {answer.status_code}: {answer.text[:200]}"
            self._asked_to_wait_s = wait_of(answer)
            return False
        await self._done(batch, lost=0)
        self.last_problem = None
        return True

    async def _done(self, batch: Batch, lost: int) -> None:
        self._said_at_ms = self._now_ms()
        if batch.lines:
            await self._journal.acknowledged(batch, lost=lost)
        state = await self._journal.state()
        self._metrics.spooled.set(state.waiting)
        self._metrics.lost.set(state.lost)

    async def _headers(self, batch: Batch) -> dict[str, str]:
        return {
            "Content-Type": "application/x-ndjson",
            "Batch-Id": batch.batch_id,
            "Boot-Id": self._boot_id,
            "First-Seq": str(batch.first_seq),
            "Last-Seq": str(batch.last_seq),
            "Watermark": (await self.watermark(batch)).isoformat(timespec="microseconds"),
        }


def wait_of(answer: httpx.Response) -> float:
    """Seconds of Retry-After; what is no number of them asks for nothing."""
    asked = answer.headers.get("Retry-After", "")
    return min(float(asked), LONGEST_WAIT_S) if asked.isascii() and asked.isdigit() else 0.0
