"""One listener a process: the newest bundles, the credentials believed, and who is held open."""

import asyncio
import contextlib
import logging
import re
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

import psycopg

from releases.edge_callers import Callers, is_live
from releases.edge_store import NEWEST, Caller, EdgeStore, Served
from releases.edge_writes import Writes
from releases.services.channel import CHANNEL

logger = logging.getLogger(__name__)
CREDENTIALS = "orchid_credential"  # the trigger's channel, see accounts' migrations
DRILL = re.compile(r"drill:(\d{1,18}):([A-Za-z0-9_-]{1,64})")
DRILL_TOLD_S = 10.0  # to whoever comes within this; a rehearsal waits little longer
CHECK_S = 2.0  # a lost hint costs at most this
BELIEVED_S = 3 * CHECK_S
RETRY_S = 1.0
BEGIN_S = 5  # to connect and, then, to have asked what was missed
WOKEN_AT_ONCE = 50  # each is a write of the whole bundle
HELD_EACH = 2  # of one credential: the old and the new while an edge reconnects


@dataclass(eq=False)
class Held:
    """A stream or a long poll that is held open. `ended` means that its time is over."""

    caller: Caller
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    ended: bool = False
    drill: int | None = None  # a rehearsal to tell it of

    def end(self) -> None:
        self.ended = True
        self.woken.set()


@dataclass
class _Product:
    """What is known of one product, as of a moment of the steady clock."""

    served: Served | None = None
    asked_s: float = float("-inf")
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    held: set[Held] = field(default_factory=set)
    drill: int | None = None  # the last rehearsal, until when it is told, and who was told
    drill_until_s: float = float("-inf")
    rehearsing: set[int] = field(default_factory=set)

    def tell(self, held: Held) -> None:
        """Hint at the rehearsal under way; an edge between two polls is told when it is back."""
        if (
            time.monotonic() < self.drill_until_s
            and held.caller.credential_id not in self.rehearsing
        ):
            self.rehearsing.add(held.caller.credential_id)
            held.drill = self.drill
            held.woken.set()


class Hub:
    """Knows each product's newest bundle and wakes whoever is held when there is a newer one.

    PostgreSQL's notification is a hint that carries a number; what is served is always read from
    the table. The listening connection is used every `CHECK_S` to compare numbers, so neither a
    lost hint nor a dead connection stays unnoticed.
    """

    def __init__(self, store: EdgeStore, at_most: int) -> None:
        self.store, self.at_most = store, at_most
        self.callers, self.writes = Callers(store), Writes(store)
        self.listening = asyncio.Event()
        self._products: defaultdict[str, _Product] = defaultdict(_Product)
        self._by_credential: dict[int, list[Held]] = {}
        self._over: set[int] = set()  # credentials that were heard to end
        self._listener: asyncio.Task[None] | None = None

    @property
    def held(self) -> int:
        """How many streams and long polls are open."""
        return sum(len(product.held) for product in self._products.values())

    @property
    def is_full(self) -> bool:
        return self.held >= self.at_most

    async def caller(self, shown: str) -> Caller | None:
        self.ensure_listening()
        return await self.callers.caller(shown)

    def known(self, product: str) -> Served | None:
        """The newest bundle as far as memory knows, for whoever is woken when it changes."""
        return self._products[product].served

    async def newest(self, product: str) -> Served | None:
        """The newest bundle; from memory while it is fresh, and asked for by one at a time."""
        self.ensure_listening()
        known = self._products[product]
        if time.monotonic() - known.asked_s >= BELIEVED_S:
            asked = time.monotonic()
            async with known.asking:
                if known.asked_s < asked:
                    await self._refresh(product)
        return known.served

    @contextmanager
    def holding(self, caller: Caller) -> Iterator[Held]:
        """Be woken when the product has news; the oldest of too many of one credential ends.

        Where the credential ended since its caller was looked up, this has ended as it begins.
        """
        held, product = Held(caller), self._products[caller.product]
        mine = self._by_credential.setdefault(caller.credential_id, [])
        mine.append(held)
        product.held.add(held)
        product.tell(held)
        if caller.credential_id in self._over:
            held.end()
        for oldest in mine[:-HELD_EACH]:
            oldest.end()
        try:
            yield held
        finally:
            product.held.discard(held)
            mine.remove(held)
            if not mine:
                self._by_credential.pop(caller.credential_id, None)

    def ensure_listening(self) -> None:
        if self._listener is None or self._listener.done():
            self._listener = asyncio.create_task(self._listen())

    async def close(self) -> None:
        if self._listener is not None:
            self._listener.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listener
        for held in [one for product in self._products.values() for one in product.held]:
            held.end()
        await self.writes.close()
        await self.store.close()

    async def _refresh(self, product: str) -> None:
        known, asked = self._products[product], time.monotonic()
        found = await self.store.served(product)
        known.asked_s = asked
        if found != known.served:
            known.served = found
            await _wake(known)

    async def _listen(self) -> None:
        """Listen for ever; while nobody listens, nothing is believed."""
        while True:
            try:
                async with await psycopg.AsyncConnection.connect(
                    self.store.dsn, autocommit=True, connect_timeout=BEGIN_S
                ) as connection:
                    async with asyncio.timeout(BEGIN_S):
                        await connection.execute(f"LISTEN {CHANNEL}")
                        await connection.execute(f"LISTEN {CREDENTIALS}")
                        await self._caught_up()
                    while True:
                        async for hint in connection.notifies(timeout=CHECK_S):
                            await self._hinted(hint)
                        async with self._in_time():
                            await self._compare(connection)
            except (psycopg.Error, TimeoutError) as lost:
                logger.warning("the listener lost its connection: %s", lost)
            self._doubt()
            await asyncio.sleep(RETRY_S)

    @asynccontextmanager
    async def _in_time(self) -> AsyncIterator[None]:
        """Nothing is believed from when an answer is late: a dead connection takes long to end."""
        late = asyncio.get_running_loop().call_later(CHECK_S, self._doubt)
        try:
            async with asyncio.timeout(CHECK_S):
                yield
        finally:
            late.cancel()

    def _doubt(self) -> None:
        self.callers.believing = False
        self.callers.forget_all()
        self.listening.clear()

    async def _caught_up(self) -> None:
        """After a time of deafness: whose credential is gone, and what is new."""
        self.callers.forget_all()
        self._over.clear()
        asked = set(self._by_credential)  # who comes meanwhile has just been looked up
        live = await self.store.live_of(asked)
        for credential_id in asked - live:
            self._end_all(credential_id)
        for product in list(self._products):
            await self._refresh(product)
        self.callers.believing = True
        self.listening.set()

    async def _hinted(self, hint: psycopg.Notify) -> None:
        if drill := DRILL.fullmatch(hint.payload):
            self._rehearse(int(drill[1]), drill[2])
        elif not hint.payload.isdecimal():
            logger.warning("a hint that nobody understands: %s", hint.payload[:80])
        elif hint.channel == CREDENTIALS:
            await self._credential_changed(int(hint.payload))
        elif product := await self.store.product_of(int(hint.payload)):
            await self._refresh(product)

    def _rehearse(self, drill: int, product: str) -> None:
        known = self._products[product]
        known.drill, known.rehearsing = drill, set()
        known.drill_until_s = time.monotonic() + DRILL_TOLD_S
        for held in list(known.held):
            known.tell(held)

    async def _credential_changed(self, credential_id: int) -> None:
        self.callers.forget(credential_id)
        if await self.store.live_of([credential_id]):
            self._over.discard(credential_id)
        else:
            self._over.add(credential_id)
            self._end_all(credential_id)

    def _end_all(self, credential_id: int) -> None:
        for held in list(self._by_credential.get(credential_id, [])):
            held.end()

    async def _compare(self, connection: psycopg.AsyncConnection) -> None:
        """What memory says against the table, for all products at once; and what ran out."""
        asked = time.monotonic()
        cursor = await connection.execute(NEWEST, {"slugs": list(self._products)})
        newest = {slug: (number, etag) for slug, number, etag in await cursor.fetchall()}
        for slug, known in list(self._products.items()):
            mine = (known.served.publication, known.served.etag) if known.served else None
            if newest.get(slug) == mine:
                known.asked_s = asked
            else:
                await self._refresh(slug)
            for held in [one for one in known.held if not is_live(one.caller)]:
                held.end()
        self.callers.forget_old()


async def _wake(known: _Product) -> None:
    """All who are held, some at a time: whoever asks something meanwhile is served between."""
    for number, held in enumerate(list(known.held), 1):
        held.woken.set()
        if number % WOKEN_AT_ONCE == 0:
            await asyncio.sleep(0)
