"""Follows a bundle that lies as a file on a web server, an object store or a CDN.

The file is signed, so nothing is taken on trust from whoever serves it. It is asked for with the
tag that its own server gave to what is active here; that server never sees the edge's token.
"""

import asyncio
import contextlib
import logging
import random

import httpx
import msgspec

from orchid.edge.settings import EdgeSettings
from orchid.edge.sync import Sync
from orchid.engine.wire.bundle import Jwk

log = logging.getLogger(__name__)

EVERY_S = 5.0
LARGEST_BYTES = 8 * 1024 * 1024


class _Keys(msgspec.Struct):
    keys: dict[str, Jwk]


class StaticFollower:
    """Polls one address for the next bundle. Keys come from a file, or from the control plane."""

    def __init__(self, settings: EdgeSettings, sync: Sync, client: httpx.AsyncClient) -> None:
        self._settings, self._sync, self._client = settings, sync, client
        self._tag: tuple[str, str] | None = None  # ours of what was served last, and its server's

    async def run(self) -> None:
        """Follow for ever, at random moments, so that a fleet does not ask all at once."""
        while True:
            await self.poll_once()
            with contextlib.suppress(TimeoutError):
                pause_s = random.uniform(EVERY_S / 2, EVERY_S)  # noqa: S311 (no secret)
                await asyncio.wait_for(self._sync.pull.wait(), pause_s)
            self._sync.pull.clear()

    async def poll_once(self) -> bool:
        """Ask once; whether what is served now is what is active."""
        try:
            if not self._sync.keys:
                await self._pin()
            return await self._fetched()
        except (httpx.HTTPError, msgspec.DecodeError, OSError) as problem:
            log.info("no bundle from %s: %s", self._settings.bundle_url, problem)
            return False

    async def _fetched(self) -> bool:
        async with self._client.stream(
            "GET", self._settings.bundle_url, headers=self._conditions()
        ) as answer:
            if answer.status_code == 304:
                return True
            if answer.status_code != 200:
                log.warning("no bundle: %s %s", self._settings.bundle_url, answer.status_code)
                return False
            token = await _bounded(answer)
        accepted = self._sync.offered(token)
        if accepted and self._sync.active is not None and (tag := answer.headers.get("ETag")):
            self._tag = self._sync.active.etag, tag
        return accepted

    def _conditions(self) -> dict[str, str]:
        """What is refused, or was overtaken, is asked for whole again."""
        active = self._sync.active
        if active is None or self._tag is None or self._tag[0] != active.etag:
            return {}
        return {"If-None-Match": self._tag[1]}

    async def _pin(self) -> None:
        file = self._settings.bundle_keys
        if file is None:
            await self._sync.register()
        else:
            self._sync.pin(msgspec.json.decode(file.read_bytes(), type=_Keys).keys)


async def _bounded(answer: httpx.Response) -> str:
    """The body, unless it is larger than any bundle."""
    parts = bytearray()
    async for part in answer.aiter_bytes():
        parts += part
        if len(parts) > LARGEST_BYTES:
            raise httpx.DecodingError("it is larger than a bundle can be")
    return parts.decode("ascii", "replace").strip()
