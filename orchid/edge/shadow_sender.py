"""Sends what was decided twice. It rests in memory alone: it costs the journal no write.

What waits when the process ends is lost, and shows as requests that were not decided twice.
"""

import asyncio
import uuid
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from orchid.edge.telemetry import BATCH_RECORDS, EVERY_S, HOPELESS, LONGEST_RETRY_S, wait_of


@dataclass(frozen=True)
class ShadowBatch:
    """Lines under one id, sent again under the same id until they are acknowledged."""

    batch_id: str
    lines: tuple[bytes, ...]


class ShadowSender:
    """Takes lines from the front of a queue that somebody else fills and bounds."""

    def __init__(self, client: httpx.AsyncClient, lines: deque[bytes], boot_id: str) -> None:
        self._client, self._lines, self._boot_id = client, lines, boot_id
        self._batch: ShadowBatch | None = None
        self._asked_to_wait_s = 0.0
        self.lost = 0
        self.last_problem: str | None = None

    async def run(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Send for ever: every second what there is, failures later again."""
        failures = 0
        while True:
            failures = 0 if await self.send_once() else failures + 1
            growing_s = min(LONGEST_RETRY_S, EVERY_S * 2 ** min(failures, 4))
            await sleep(max(growing_s, self._asked_to_wait_s))

    async def send_once(self) -> bool:
        """Send what waits, batch by batch; False when one was not acknowledged."""
        while (batch := self._batch or self._taken()) is not None:
            self._batch = batch
            if not await self._deliver(batch):
                return False
            self._batch = None
        return True

    def _taken(self) -> ShadowBatch | None:
        size = min(BATCH_RECORDS, len(self._lines))
        if not size:
            return None
        lines = tuple(self._lines.popleft() for _ in range(size))
        return ShadowBatch(f"{self._boot_id}-s{uuid.uuid4().hex[:12]}", lines)

    async def _deliver(self, batch: ShadowBatch) -> bool:
        self._asked_to_wait_s = 0.0
        try:
            answer = await self._client.post(
                "/api/v1/ingest/shadow",
                content=b"".join(line + b"\n" for line in batch.lines),
                headers={"Content-Type": "application/x-ndjson", "Batch-Id": batch.batch_id},
            )
        except httpx.HTTPError as problem:
            self.last_problem = f"not delivered: {problem or type(problem).__name__}"
            return False
        if answer.is_success:
            self.last_problem = None
            return True
        self.last_problem = f"answered {answer.status_code}: {answer.text[:200]}"
        if answer.status_code in HOPELESS:
            self.lost += len(batch.lines)
            return True
        self._asked_to_wait_s = wait_of(answer)
        return False
