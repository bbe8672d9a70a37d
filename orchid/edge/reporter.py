"""Tells the control plane what this edge runs, what it refused, and what is still open."""

import asyncio
import contextlib
import random
from datetime import UTC, datetime

import httpx
import msgspec

from orchid.edge.requests import Requests
from orchid.edge.settings import EdgeSettings
from orchid.edge.sync import Report, Sync, seconds_asked

RETRY_S, LONGEST_RETRY_S = 0.5, 15.0
# Sequences that have to drain before something can be let go are counted this often.
DRAINING_S = 2.0
LONGEST_S = 300.0
LONGEST_NEWS_S = 10.0


class _Recorded(msgspec.Struct):
    """What a control plane answers; an older one says nothing of when to come again."""

    report_every_s: float = DRAINING_S
    news_within_s: float = 0.0


class Reporter:
    """Tells the control plane what is active or refused, and which sequences are still open."""

    def __init__(
        self,
        settings: EdgeSettings,
        client: httpx.AsyncClient,
        sync: Sync,
        boot_id: str,
        requests: Requests,
    ) -> None:
        self._settings, self._client, self._sync = settings, client, sync
        self._boot_id, self._requests = boot_id, requests
        self._asked = _Recorded()
        self._asked_to_wait_s = 0.0

    async def run(self) -> None:
        """When something changed, and else as often as the control plane asks for.

        It asks the less often the more edges it has, and many of them to spread their news: the
        reports of those that are done must not keep a bundle from those that wait for it.
        """
        failures = 0
        while True:
            every_s = DRAINING_S if self._is_draining() else self._asked.report_every_s
            with contextlib.suppress(TimeoutError):
                pause_s = random.uniform(0.75, 1.25) * every_s  # noqa: S311 (no secret)
                await asyncio.wait_for(self._sync.changed.wait(), pause_s)
                await asyncio.sleep(random.uniform(0.25, 1.0) * self._asked.news_within_s)  # noqa: S311
            self._sync.changed.clear()
            failures = 0 if await self.report_once() else failures + 1
            if failures:
                growing_s = min(LONGEST_RETRY_S, RETRY_S * 2 ** min(failures - 1, 10))
                longest_s = max(growing_s, self._asked_to_wait_s)
                await asyncio.sleep(random.uniform(longest_s / 2, longest_s))  # noqa: S311

    async def report_once(self) -> bool:
        """Send what is unreported, else what holds now again; False to be sent again."""
        self._asked_to_wait_s = 0.0
        report = self._sync.unreported or self._current()
        if report is None:
            return True
        try:
            answer = await self._client.post(
                f"/edge/v1/products/{self._settings.product}/activations", json=self._body(report)
            )
        except httpx.HTTPError:
            self._sync.changed.set()
            return False
        if answer.status_code >= 500 or answer.status_code in (401, 403, 429):
            self._sync.changed.set()
            self._asked_to_wait_s = seconds_asked(answer)
            return False
        if self._sync.unreported is report:
            self._sync.unreported = None
        self._asked = _recorded(answer)
        return True

    def _is_draining(self) -> bool:
        """Whether anything runs on under a generation that is served no more."""
        active = self._sync.active
        served = {policy.digest for policy in active.policies} if active else set()
        return not served.issuperset(self._requests.open_sequences())

    def _current(self) -> Report | None:
        """What holds now: what is active, unless that is refused as it was signed again."""
        active, refusal = self._sync.active, self._sync.refusal
        if active is None:
            return None
        number = active.bundle.publication
        refused = refusal is not None and refusal.publication == number
        return refusal if refused else Report(number, "active")

    def _body(self, report: Report) -> dict[str, object]:
        return {
            "edge": self._settings.name,
            "publication": report.publication,
            "state": report.state,
            "reason": report.reason,
            "open_sequences": self._requests.open_sequences(),
            "open_manifests": self._requests.open_manifests(),
            "sent_at": datetime.now(UTC).isoformat(),
            "boot_id": self._boot_id,
        }


def _recorded(answer: httpx.Response) -> _Recorded:
    try:
        asked = msgspec.json.decode(answer.content, type=_Recorded)
    except msgspec.DecodeError:
        return _Recorded()
    every_s = min(max(asked.report_every_s, DRAINING_S), LONGEST_S)
    return _Recorded(every_s, min(max(asked.news_within_s, 0.0), LONGEST_NEWS_S))
