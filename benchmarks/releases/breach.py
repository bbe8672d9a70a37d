"""From the answer that a breach is stored until it is rolled back, in the product as it runs.

PostgreSQL, web, worker, beat and an edge are the processes that `orchid up` starts. Each round
publishes a candidate for half of the traffic, waits until its window is open, and delivers one
batch in which all that the candidate served came late. The clock runs from the 202 until the
rollback's publication is there, and until the edge has activated it. That edge has no traffic and
says only each five seconds how far it is complete; harm that another has told does not wait for it.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from benchmarks.faults.rig import Rig, rig
from benchmarks.line import Against, Line
from benchmarks.releases import stage
from benchmarks.rounds import Series

if TYPE_CHECKING:
    from releases.models import Publication, Rollout

Found = TypeVar("Found")

GOAL = Against("10 s", 10.0)
#: Of the demo's document.
STEP = timedelta(seconds=5)
EACH = 400  # requests of either cohort: more than its minimum sample of 350
_PATIENCE_S, _LOOK_S = 60.0, 0.02


@dataclass(frozen=True)
class Reacted:
    """Seconds from the 202 until each was seen."""

    rolled_back: float
    active: float


def run(smoke: bool) -> Iterable[Line]:
    """The longest of some rounds."""
    with rig({}) as machine:
        machine.let_in()
        found = _measured(machine, 1 if smoke else 5)
    goal = None if smoke else "<= 1"
    parts = {
        "releases.breach.rolled_back": [one.rolled_back for one in found],
        "releases.breach.active_at_an_edge": [one.active for one in found],
    }
    for name, figures in parts.items():
        series = Series(tuple(figures))
        note = f"the longest of {len(figures)} rounds; median {series.median:.2f} s"
        yield Line(name, max(figures), "s", GOAL, goal, series.spread, note)


def _measured(machine: Rig, rounds: int) -> list[Reacted]:
    made = stage.product()
    machine.start_product()
    machine.start_edge(stage.PRODUCT, _token("edge-1"))
    loaded = _Loaded(machine.machine.url, _token("edge-2"))
    return [_round(made, loaded, number) for number in range(rounds)]


def _token(name: str) -> str:
    from accounts.guard import SYSTEM_ACTOR
    from accounts.models import User
    from accounts.services import issue_credential

    owner = User.objects.get(username="dee")
    return issue_credential(
        SYSTEM_ACTOR, kind="edge", name=name, product_slug=stage.PRODUCT, owner=owner
    )[1]


def _round(made: Any, loaded: "_Loaded", number: int) -> Reacted:
    rollout = _at_its_canary(made, 9_000 + number)
    loaded.deliver(rollout)
    stored = time.monotonic()
    first = rollout.publication.number
    rolled_back = _seen(lambda: _rollback_after(made, first))
    at = time.monotonic()
    _seen(lambda: rolled_back.activations.filter(state="active", edge__name="edge-1").first())
    return Reacted(at - stored, time.monotonic() - stored)


def _at_its_canary(made: Any, queued: int) -> "Rollout":
    """Published for half of the traffic and judged for a whole step, at the start of the next."""
    from gates.models import Window
    from releases.models import Rollout
    from releases.services.publish import publish

    stages = [{"canary": 0.5, "hold": "10m"}, {"canary": 1.0, "hold": "10m"}]
    proposal = stage.approved(made, queued, stages=stages, on_breach="rollback")
    publish(stage.actor("dee"), proposal)
    rollout = Rollout.objects.select_related("publication").get(proposal=proposal)
    windows = Window.objects.filter(publication=rollout.publication.number, cohort="candidate")
    opens_at = _seen(windows.first).opens_at
    _seen(lambda: _step_over() >= opens_at or None)
    return rollout


class _Loaded:
    """An edge with traffic: it delivers the last step that is over, and nothing older will come."""

    def __init__(self, url: str, token: str) -> None:
        headers = {"Authorization": f"Bearer {token}"}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=20)
        self._seq = self._batches = 0

    def deliver(self, rollout: "Rollout") -> None:
        """All that the candidate served came late; what the incumbent served was in time."""
        at = _step_over()
        records = list(_records(rollout.publication, at))
        first, last = self._seq + 1, self._seq + len(records)
        self._seq, self._batches = last, self._batches + 1
        headers = {
            "Batch-Id": f"batch-{self._batches}",
            "Content-Type": "application/x-ndjson",
            "Boot-Id": "bench",
            "First-Seq": str(first),
            "Last-Seq": str(last),
            "Watermark": (at + STEP).isoformat(),
        }
        lines = "\n".join(json.dumps(one) for one in records)
        answer = self._client.post("/api/v1/ingest/requests", content=lines, headers=headers)
        answer.raise_for_status()


def _records(publication: "Publication", at: datetime) -> Iterator[dict[str, Any]]:
    for number in range(2 * EACH):
        cohort, ms = ("candidate", 9_000.0) if number % 2 else ("incumbent", 300.0)
        digest = publication.candidate_digest if number % 2 else publication.incumbent_digest
        yield _record(publication.number, cohort, str(digest), at, ms)


def _record(number: int, cohort: str, digest: str, at: datetime, ms: float) -> dict[str, Any]:
    name = f"{cohort}-{time.monotonic_ns()}"
    attempt = {"attempt_id": f"a-{name}", "route": "full", "model": "full", "status": "completed"}
    return {
        "request_id": f"r-{name}",
        "product": stage.PRODUCT,
        "edge": "edge-2",
        "publication": number,
        "digest": digest,
        "cohort": cohort,
        "tenant": "acme",
        "tenant_class": "standard",
        "class": "short_assistant",
        "segment": {"task": "assistant", "tenant_class": "standard"},
        "arrived_at": at.isoformat(),
        "completion_ms": ms,
        "input_tokens": 1000,
        "output_tokens": 180,
        "decision": {"action": "admit", "route": "full", "teu": "320"},
        "outcome": "completed",
        "policy_valid": True,
        "schema_valid": True,
        "attempts": [attempt],
    }


def _rollback_after(made: Any, number: int) -> "Publication | None":
    from releases.models import Publication

    found = Publication.objects.filter(product=made, number__gt=number, kind="rollback")
    return found.first()


def _seen(look: Callable[[], Found | None]) -> Found:
    """What is looked for as soon as it is there."""
    until = time.monotonic() + _PATIENCE_S
    while (found := look()) is None:
        if time.monotonic() > until:
            raise RuntimeError(f"what the round waits for did not come in {_PATIENCE_S:g} s")
        time.sleep(_LOOK_S)
    return found


def _step_over() -> datetime:
    """The start of the last step that is over."""
    now = datetime.now(UTC)
    return now - (now - datetime(1970, 1, 1, tzinfo=UTC)) % STEP - STEP
