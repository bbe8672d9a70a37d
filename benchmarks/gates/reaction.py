"""How long a change in traffic takes to reach the verdict, in the product as it runs.

PostgreSQL, web, worker and beat are the processes that `orchid up` starts. An edge delivers good
traffic; then each round it delivers a burst of failures in a step that is over. The clock runs from
the answer that says the delivery is stored until an evaluation has its requests; in the last round
also until the verdict has failed.
"""

import json
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx

from benchmarks.faults.rig import Rig, rig, until
from benchmarks.line import Against, Line
from benchmarks.rounds import Series

if TYPE_CHECKING:
    from benchmarks.faults.product import Seeded
    from gates.models import Window

GOAL_S = 5.0
#: Of the demo's document.
STEP = timedelta(seconds=5)
BATCH = 40
_PATIENCE_S = 60.0


def run(smoke: bool) -> Iterable[Line]:
    """The longest of some rounds."""
    with rig({}) as machine:
        machine.let_in()
        found = _measured(machine, 2 if smoke else 8)
    yield Line(
        "a change in traffic until an evaluation has it",
        max(found.figures),
        "s",
        Against("bound", GOAL_S),
        "<= 1",
        found.spread,
        f"the longest of {len(found.figures)} rounds; median {found.median:.2f} s",
    )


def _measured(machine: Rig, rounds: int) -> Series:
    from benchmarks.faults.product import seed
    from gates.services import open_window
    from policies.models import Product

    seeded = seed()
    machine.start_product()
    edge = _Edge(machine.machine.url, seeded)
    opens_at = _step_over() - 2 * STEP
    product = Product.objects.get(slug="orchid-demo")
    window = open_window(product, seeded.digest, 1, "incumbent", opens_at, 1.0)
    _seen_after(window, edge, "completed")  # until all that starts with the product has started
    figures = [_seen_after(window, edge, "timed_out") for _ in range(rounds)]
    if not until(lambda: _verdict(window) == "fail", _PATIENCE_S):
        raise RuntimeError(f"so many failures are a fail, not {_verdict(window)}")
    return Series(tuple(figures))


class _Edge:
    """Sends records of the last step that is over, and says that nothing older will come."""

    def __init__(self, url: str, seeded: "Seeded") -> None:
        headers = {"Authorization": f"Bearer {seeded.tokens['edge']}"}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=20)
        self._seeded, self._seq = seeded, 0
        self.sent = 0

    def deliver(self, outcome: str) -> None:
        """Store one batch; what it holds is counted by a worker."""
        arrived_at = _step_over()
        lines = [json.dumps(self._record(arrived_at, outcome)) for _ in range(BATCH)]
        headers = {
            "Batch-Id": f"batch-{self._seq}",
            "Content-Type": "application/x-ndjson",
            "Boot-Id": "bench",
            "First-Seq": str(self._seq + 1),
            "Last-Seq": str(self._seq + BATCH),
            "Watermark": (arrived_at + STEP).isoformat(),
        }
        self._seq += BATCH
        answer = self._client.post(
            "/api/v1/ingest/requests", content="\n".join(lines), headers=headers
        )
        answer.raise_for_status()
        self.sent += BATCH

    def _record(self, arrived_at: datetime, outcome: str) -> dict[str, Any]:
        number = f"{self.sent}-{time.monotonic_ns()}"
        whole = outcome == "completed"
        return {
            "request_id": f"r-{number}",
            "product": "orchid-demo",
            "edge": "edge-1",
            "publication": 1,
            "digest": self._seeded.digest,
            "cohort": "incumbent",
            "tenant": "acme",
            "tenant_class": "standard",
            "class": "short_assistant",
            "segment": {"task": "assistant", "tenant_class": "standard"},
            "arrived_at": arrived_at.isoformat(),
            "completion_ms": 400.0 if whole else None,
            "input_tokens": 1000,
            "output_tokens": 180,
            "decision": {"action": "admit", "route": "full", "teu": "320"},
            "outcome": outcome,
            "policy_valid": True if whole else None,
            "schema_valid": True if whole else None,
            "attempts": [
                {
                    "attempt_id": f"a-{number}",
                    "route": "full",
                    "model": "full",
                    "manifest": self._seeded.manifest,
                    "status": outcome,
                }
            ],
        }


def _seen_after(window: "Window", edge: _Edge, outcome: str) -> float:
    """Seconds from stored to an evaluation that has all that was sent, at the start of a step.

    An edge that said how far it has told everything keeps its word, so a step is sent but once.
    """
    before = _step_over()
    until(lambda: _step_over() > before, 2 * STEP.total_seconds())
    edge.deliver(outcome)
    began = time.monotonic()
    if not until(lambda: _offered(window) >= edge.sent, _PATIENCE_S):
        raise RuntimeError(f"{_offered(window)} of {edge.sent} requests reached an evaluation")
    return time.monotonic() - began


def _offered(window: "Window") -> int:
    last = window.evaluations.order_by("-pk").values_list("figures", flat=True).first()
    return int(last["whole"]["populations"].get("offered", 0)) if last else 0


def _verdict(window: "Window") -> str:
    return window.evaluations.order_by("-pk").values_list("verdict", flat=True).first() or ""


def _step_over() -> datetime:
    """The start of the last step that is over."""
    now = datetime.now(UTC)
    return now - (now - datetime(1970, 1, 1, tzinfo=UTC)) % STEP - STEP
