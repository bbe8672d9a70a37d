"""Follows the control plane: long-polls for the next bundle, activates it or refuses it, says so.

The tag that is sent is that of the *active* bundle. A refused one is therefore offered again until
it, or a better one, is activated.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum

import httpx
import msgspec

from orchid.edge.active import Active, activate
from orchid.edge.disk import Kept, kept_bundle, read_kept, write_kept
from orchid.edge.metrics import Metrics
from orchid.edge.settings import EdgeSettings
from orchid.engine.wire.bundle import (
    BundleRefused,
    Jwk,
    claimed_publication,
    trusted_after,
    verify,
)

log = logging.getLogger(__name__)

WAIT_S = 30
SHORTEST_RETRY_S = 0.2
# A server that says "nothing new" faster than this doesn't hold polls, and must not be hammered.
HELD_S = 0.1


class Answer(Enum):
    """How a poll ended; the value is the longest wait before the next one, in seconds."""

    ACTIVATED = 0.0
    NOTHING_NEW = 0.01
    NOT_YET = 1.2  # nothing published, refused here, or not held: what comes next must be seen soon
    UNREACHABLE = 5.0


@dataclass(frozen=True)
class Report:
    """What the control plane is to be told: an activation, or a refusal with its reason."""

    publication: int | None
    state: str  # active | refused
    reason: str = ""


class _Keys(msgspec.Struct):
    keys: dict[str, Jwk]


class Sync:
    """One edge's bundle. `on_active` is called before the activation is reported."""

    def __init__(
        self,
        settings: EdgeSettings,
        client: httpx.AsyncClient,
        metrics: Metrics,
        on_active: Callable[[Active], None],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._settings, self._client, self._metrics = settings, client, metrics
        self._on_active, self._now = on_active, now
        self._kept = Kept()
        self.active: Active | None = None
        self.refusal: Report | None = None
        self.unreported: Report | None = None
        self.changed = asyncio.Event()  # set when there is something to report
        self.on_drill: Callable[[int], None] = lambda _: None  # a rehearsal to answer

    def start(self) -> None:
        """Decide by what is on disk, when that is still what a trusted key signed."""
        self._kept = read_kept(self._settings.state_dir)
        try:
            bundle = kept_bundle(self._kept, self._settings.product)
            if bundle is not None and self._kept.token is not None:
                self._become(activate(self._kept.token, bundle, self._settings.name))
        except BundleRefused as refused:
            self._refuse(refused, None)

    async def run(self, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        """Follow for ever. Failures wait longer each time, and with jitter."""
        failures = 0
        while True:
            answer = await self.poll_once()
            failures = failures + 1 if answer.value > SHORTEST_RETRY_S else 0
            longest = min(answer.value, SHORTEST_RETRY_S * 2**failures)
            await sleep(random.uniform(longest / 2, longest))  # noqa: S311 (no secret)

    async def poll_once(self) -> Answer:
        """One long poll, and what came of it."""
        try:
            if not self._kept.keys:
                await self._register()
            answer = await self._client.get(
                f"/edge/v1/products/{self._settings.product}/bundle",
                headers=self._conditions(),
                timeout=httpx.Timeout(10.0, read=WAIT_S + 10.0),
            )
        except (httpx.HTTPError, msgspec.DecodeError) as problem:
            log.info("the control plane can't be reached: %s", problem or type(problem).__name__)
            return Answer.UNREACHABLE
        if drill := answer.headers.get("Orchid-Drill", ""):
            self._told_of(drill)
        if answer.status_code == 200:
            return Answer.ACTIVATED if self.offered(answer.text) else Answer.NOT_YET
        if answer.status_code == 304 and answer.elapsed.total_seconds() > HELD_S:
            return Answer.NOTHING_NEW
        if answer.status_code not in (304, 404):
            log.warning("no bundle: %s %s", answer.status_code, answer.text[:200])
            return Answer.UNREACHABLE
        return Answer.NOT_YET

    def offered(self, token: str) -> bool:
        """Activate an offered bundle, or keep the active one and remember why."""
        try:
            bundle = verify(
                token,
                self._kept.keys,
                product=self._settings.product,
                floor_publication=self._kept.floor,
                now=self._now(),
                active=self.active.bundle if self.active else None,
            )
            active = activate(token, bundle, self._settings.name)
        except BundleRefused as refused:
            self._refuse(refused, claimed_publication(token))
            return False
        self._keep(active, token)
        self._become(active)
        return True

    @property
    def keys(self) -> dict[str, Jwk]:
        """The keys that may sign what this edge is offered."""
        return self._kept.keys

    def _told_of(self, drill: str) -> None:
        if drill.isdecimal():
            self.on_drill(int(drill))

    def _conditions(self) -> dict[str, str]:
        waiting = {"Prefer": f"wait={WAIT_S}"}
        return waiting | {"If-None-Match": self.active.etag} if self.active else waiting

    async def _register(self) -> None:
        """The first contact: pin the keys that this control plane shows for our token."""
        answer = await self._client.get(f"/edge/v1/products/{self._settings.product}/keys")
        answer.raise_for_status()
        keys = msgspec.json.decode(answer.content, type=_Keys).keys
        self._kept = msgspec.structs.replace(self._kept, keys=keys)
        write_kept(self._settings.state_dir, self._kept)

    def _keep(self, active: Active, token: str) -> None:
        """On disk first: what is decided by after a restart is never older than what was."""
        self._kept = Kept(
            keys=trusted_after(token, self._kept.keys, active.bundle),
            floor=max(self._kept.floor, active.bundle.publication),
            token=token,
            accepted_at=self._now(),
        )
        write_kept(self._settings.state_dir, self._kept)

    def _become(self, active: Active) -> None:
        self.active, self.refusal = active, None
        self._on_active(active)
        self._metrics.publication.set(active.bundle.publication)
        log.info("active: publication %s", active.bundle.publication)
        self._report(Report(active.bundle.publication, "active"))

    def _refuse(self, refused: BundleRefused, number: int | None) -> None:
        """Keep what is active. The number is what the offer claims, signed or not."""
        report = Report(number, "refused", f"{refused.code}: {refused.message}")
        self._metrics.refused_bundles.labels(refused.code).inc()
        if report != self.refusal:
            log.warning("refused an offered bundle: %s", refused)
            self._report(report)
        self.refusal = report

    def _report(self, report: Report) -> None:
        self.unreported = report
        self.changed.set()
