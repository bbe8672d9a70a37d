"""One listener a process: cached bundles, and the waits of the long polls."""

import asyncio
import contextlib
import logging
import time
from collections import defaultdict

import psycopg

from releases.edge_store import EdgeStore, Served
from releases.services.channel import CHANNEL

logger = logging.getLogger(__name__)
BELIEVED_S = 2.0  # a cached bundle is asked for again after this, should a hint have been lost
RETRY_S = 1.0


class Hub:
    """Knows each product's newest bundle and wakes whoever waits for a newer one.

    PostgreSQL's notification is a hint that carries a number; what is served is always read from
    the table. A lost hint costs at most `BELIEVED_S`.
    """

    def __init__(self, store: EdgeStore) -> None:
        self.store = store
        self._cache: dict[str, tuple[float, Served | None]] = {}
        self._woken: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._listener: asyncio.Task[None] | None = None
        self.listening = asyncio.Event()

    async def served(self, product: str) -> Served | None:
        """The newest bundle; from memory while it is fresh."""
        self._ensure_listening()
        known = self._cache.get(product)
        if known and time.monotonic() - known[0] < BELIEVED_S:
            return known[1]
        return await self._refresh(product)

    async def newer_than(self, product: str, active_tag: str, wait_s: float) -> Served | None:
        """The bundle once its tag differs from the active one; None when the wait is over."""
        deadline = time.monotonic() + wait_s
        while True:
            woken = self._woken[product]
            found = await self.served(product)
            if found is not None and found.etag != active_tag:
                return found
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(woken.wait(), min(left, BELIEVED_S))

    async def close(self) -> None:
        if self._listener is not None:
            self._listener.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listener
        await self.store.close()

    async def _refresh(self, product: str) -> Served | None:
        found = await self.store.served(product)
        self._cache[product] = (time.monotonic(), found)
        return found

    def _ensure_listening(self) -> None:
        if self._listener is None or self._listener.done():
            self._listener = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        """Listen for ever; after a lost connection everything cached is asked for again."""
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self.store.dsn, autocommit=True
                ) as connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    self._cache.clear()
                    self.listening.set()
                    async for hint in connection.notifies():
                        await self._hinted(hint.payload)
            except psycopg.OperationalError as lost:
                logger.warning("the listener lost its connection: %s", lost)
            self.listening.clear()
            await asyncio.sleep(RETRY_S)

    async def _hinted(self, payload: str) -> None:
        product = await self.store.product_of(int(payload)) if payload.isdecimal() else None
        if product is None:
            return
        await self._refresh(product)
        # Whoever waits holds the old event; the next to wait gets a new one.
        self._woken.pop(product, asyncio.Event()).set()
