"""Follows the control plane: polls for the next bundle, activates it or refuses it, says so.

The tag that is sent is that of the *active* bundle. A refused one is therefore offered again until
it, or a better one, is activated. The pull is the truth: while a stream of hints is open the poll
is slow and isn't held; without one it is a long poll.
"""

import asyncio
import contextlib
import logging
import random
from collections.abc import Callable
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
    etag_of,
    trusted_after,
    verify,
)

log = logging.getLogger(__name__)

WAIT_S = 30
SHORTEST_RETRY_S = 0.2
# Beside an open stream: how often it is made sure that no hint was lost.
POLL_S = 40.0
# What a receiver may ask us to wait; longer, and a restart of it goes unnoticed.
LONGEST_WAIT_S = 60.0
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
        self.pull = asyncio.Event()  # set when the next poll can't wait
        self.streaming = False  # whether hints arrive by a stream
        self._asked_to_wait_s = 0.0
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

    async def run(self) -> None:
        """Follow for ever. Failures wait longer each time, and with jitter."""
        failures = 0
        while True:
            answer = await self.poll_once()
            failures = failures + 1 if answer.value > SHORTEST_RETRY_S else 0
            longest = self._longest_pause_s(answer, failures)
            with contextlib.suppress(TimeoutError):
                pause_s = random.uniform(longest / 2, longest)  # noqa: S311 (no secret)
                await asyncio.wait_for(self.pull.wait(), pause_s)
            self.pull.clear()

    def _longest_pause_s(self, answer: Answer, failures: int) -> float:
        """A hint of what comes next arrives by the stream, so beside one nothing is hurried."""
        settled = answer in (Answer.ACTIVATED, Answer.NOTHING_NEW)
        if self.streaming and settled:
            return POLL_S
        growing: float = SHORTEST_RETRY_S * 2 ** min(failures, 10)
        longest = min(POLL_S if self.streaming else answer.value, growing)
        return max(longest, self._asked_to_wait_s)

    async def poll_once(self) -> Answer:
        """One poll, and what came of it."""
        self._asked_to_wait_s = 0.0
        try:
            if not self._kept.keys:
                await self.register()
            answer = await self._client.get(
                f"/edge/v1/products/{self._settings.product}/bundle",
                headers=self._conditions(),
                timeout=httpx.Timeout(10.0, read=WAIT_S + 10.0),
            )
        except (httpx.HTTPError, msgspec.DecodeError) as problem:
            log.info("the control plane can't be reached: %s", problem or type(problem).__name__)
            return Answer.UNREACHABLE
        self._asked_to_wait_s = seconds_asked(answer)
        self.told_of_drill(answer.headers.get("Orchid-Drill", ""))
        if answer.status_code == 200:
            return Answer.ACTIVATED if self.offered(answer.text) else Answer.NOT_YET
        if answer.status_code == 304 and (
            self.streaming or answer.elapsed.total_seconds() > HELD_S
        ):
            return Answer.NOTHING_NEW
        if answer.status_code not in (304, 404):
            log.warning("no bundle: %s %s", answer.status_code, answer.text[:200])
            return Answer.UNREACHABLE
        return Answer.NOT_YET

    def offered(self, token: str) -> bool:
        """Activate an offered bundle, or keep the active one and remember why.

        What is active already, offered a second time by poll or stream, changes nothing.
        """
        if self.active is not None and etag_of(token) == self.active.etag:
            self.refusal = None
            return True
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
            self._keep(active, token)
        except BundleRefused as refused:
            self._refuse(refused, claimed_publication(token))
            return False
        self._become(active)
        return True

    @property
    def keys(self) -> dict[str, Jwk]:
        """The keys that may sign what this edge is offered."""
        return self._kept.keys

    def told_of_drill(self, drill: str) -> None:
        if drill.isascii() and drill.isdigit() and len(drill) < 19:
            self.on_drill(int(drill))

    @property
    def running(self) -> dict[str, str]:
        """What is active here, as a condition of whatever is asked for."""
        return {"If-None-Match": self.active.etag} if self.active else {}

    def _conditions(self) -> dict[str, str]:
        """Nothing is held open twice: beside a stream the poll doesn't wait."""
        return self.running if self.streaming else self.running | {"Prefer": f"wait={WAIT_S}"}

    async def register(self) -> None:
        """The first contact: pin the keys that this control plane shows for our token."""
        answer = await self._client.get(f"/edge/v1/products/{self._settings.product}/keys")
        answer.raise_for_status()
        self.pin(msgspec.json.decode(answer.content, type=_Keys).keys)

    def pin(self, keys: dict[str, Jwk]) -> None:
        """Trust these keys from now on."""
        self._write(msgspec.structs.replace(self._kept, keys=keys))

    def _keep(self, active: Active, token: str) -> None:
        """On disk first: what is decided by after a restart is never older than what was.

        Raises BundleRefused where the disk takes nothing.
        """
        kept = Kept(
            keys=trusted_after(token, self._kept.keys, active.bundle),
            floor=max(self._kept.floor, active.bundle.publication),
            token=token,
            accepted_at=self._now(),
        )
        try:
            self._write(kept)
        except OSError as error:
            said = f"it can't be kept in {self._settings.state_dir}: {error.strerror}"
            raise BundleRefused("not_kept", said) from error

    def _write(self, kept: Kept) -> None:
        """What isn't on disk isn't gone by."""
        write_kept(self._settings.state_dir, kept)
        self._kept = kept

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
        if refused.code == "older" and self.active and number == self.active.bundle.publication:
            return  # a cache has an earlier signature of what runs here: no trouble of this edge
        if report != self.refusal:
            log.warning("refused an offered bundle: %s", refused)
            self._report(report)
        self.refusal = report

    def _report(self, report: Report) -> None:
        self.unreported = report
        self.changed.set()


def seconds_asked(answer: httpx.Response) -> float:
    """Seconds of Retry-After; what is no number of them asks for nothing."""
    asked = answer.headers.get("Retry-After", "")
    return min(float(asked), LONGEST_WAIT_S) if asked.isascii() and asked.isdigit() else 0.0
