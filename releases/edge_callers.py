"""Who asks: by a token, or by a client certificate that a trusted proxy has verified.

A credential that was found is kept in memory. The database says at once when one changes, by a
trigger and `NOTIFY`; while nobody listens to that, nothing is believed and each is asked for.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

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
        self._changes = 0
        self.believing = False

    def __len__(self) -> int:
        return len(self._known)

    async def caller(self, shown: str) -> Caller | None:
        """The live credential that shows this; None when there is none."""
        known = self._known.get(shown)
        if known and known.until_s > time.monotonic():
            return known.caller if is_live(known.caller) else None
        while True:
            changes = self._changes
            found = await self._store.caller(shown)
            if found is None:
                self._known.pop(shown, None)
                return None
            if changes == self._changes:  # else it may be revoked since it was read
                break
        if self.believing:
            self._known[shown] = _Known(found, time.monotonic() + BELIEVED_S)
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
