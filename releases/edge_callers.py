"""Who asks: by a token, or by a client certificate that a trusted proxy has verified.

A credential that was found is kept in memory. The database says at once when one changes, by a
trigger and `NOTIFY`; while nobody listens to that, nothing is believed and each is asked for.
"""

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from psycopg import Error
from starlette.datastructures import Headers

from accounts.certificates import certificate_shown
from releases.edge_store import Caller, EdgeStore

BELIEVED_S = 60.0  # a bound on memory, not on revocation: that one is told at once


@dataclass(frozen=True)
class _Known:
    caller: Caller
    until_s: float  # of the steady clock


class Callers:
    """Live credentials by what they show, asked of the store when they aren't in memory."""

    def __init__(self, store: EdgeStore) -> None:
        self._store = store
        self._known: dict[str, _Known] = {}
        self._asked_for: dict[str, asyncio.Future[Caller | None]] = {}
        self._asking: asyncio.Task[None] | None = None
        self._changes = 0
        self.believing = False

    def __len__(self) -> int:
        return len(self._known)

    async def caller(self, shown: str) -> Caller | None:
        """The live credential that shows this; None when there is none."""
        known = self._known.get(shown)
        if known and known.until_s > time.monotonic():
            return known.caller if is_live(known.caller) else None
        return await self._asked(shown)

    async def _asked(self, shown: str) -> Caller | None:
        """Asked for with whoever else asks meanwhile: a thousand edges come back at one time."""
        waiting = self._asked_for.get(shown)
        if waiting is None:
            waiting = self._asked_for[shown] = asyncio.get_running_loop().create_future()
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        return await asyncio.shield(waiting)

    async def _ask(self) -> None:
        while self._asked_for:
            wanted, self._asked_for = self._asked_for, {}
            try:
                found = await self._unchanged(list(wanted))
            except Error as error:
                for waiting in wanted.values():
                    waiting.set_exception(error)
                    waiting.exception()  # whoever waited may be gone
                continue
            until_s = time.monotonic() + BELIEVED_S
            for shown, waiting in wanted.items():
                caller = found.get(shown)
                if caller is not None and self.believing:
                    self._known[shown] = _Known(caller, until_s)
                waiting.set_result(caller)

    async def _unchanged(self, wanted: list[str]) -> dict[str, Caller]:
        """Read again when a credential changed meanwhile: it may be revoked since it was read."""
        while True:
            changes = self._changes
            found = await self._store.callers(wanted)
            if changes == self._changes:
                return found

    def forget(self, credential_id: int) -> None:
        """This credential is not as it was."""
        self._changes += 1
        for shown in [s for s, k in self._known.items() if k.caller.credential_id == credential_id]:
            del self._known[shown]

    def forget_all(self) -> None:
        self._changes += 1
        self._known.clear()

    def forget_old(self) -> None:
        """Let go of who came no more."""
        now = time.monotonic()
        self._known = {shown: known for shown, known in self._known.items() if known.until_s > now}


def is_live(caller: Caller) -> bool:
    return caller.expires_at is None or caller.expires_at > datetime.now(UTC)


def shown_by(headers: Headers, proxy_secret: str) -> str | None:
    """What is to be looked up: the hash of a bearer token, or what stands for a certificate."""
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return sha256(token.strip().encode()).hexdigest()
    return certificate_shown(headers, proxy_secret)
