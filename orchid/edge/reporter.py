"""Tells the control plane what this edge runs, what it refused, and what is still open."""

import asyncio
import contextlib
from datetime import UTC, datetime

import httpx

from orchid.edge.requests import Requests
from orchid.edge.settings import EdgeSettings
from orchid.edge.sync import Report, Sync

RETRY_S = 0.5


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

    async def run(self, every_s: float = 2.0) -> None:
        """At once when something changed, else as often as draining sequences are watched."""
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._sync.changed.wait(), every_s)
            self._sync.changed.clear()
            if not await self.report_once():
                await asyncio.sleep(RETRY_S)

    async def report_once(self) -> bool:
        """Send what is unreported, else the active publication again; False to be sent again."""
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
            return False
        if self._sync.unreported is report:
            self._sync.unreported = None
        return True

    def _current(self) -> Report | None:
        active = self._sync.active
        return Report(active.bundle.publication, "active") if active else None

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
