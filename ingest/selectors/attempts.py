"""What the engine saw, beside what the gateway and the client say of the same attempt.

An attempt has no status in Triton's own data, so its outcome is whoever knows best: the gateway's
record, else the client's log, else how the execution ended.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from ingest.models import ClientCall, EngineAttempt, RequestRow
from ingest.selectors.engine_sql import MOST
from ingest.states import Clock
from orchid.formats.triton_phases import Ending, Trace
from policies.models import Product

_ANSWERED = frozenset({"completed", "bounded", "early_terminated"})
_BY_ENDING = {
    Ending.ANSWERED: "completed",
    Ending.QUEUE_TIMEOUT: "timed_out",
    Ending.QUEUE_FULL: "rejected",
    Ending.CANCELLED: "cancelled",
    Ending.UNFINISHED: "",
    Ending.FAILED: "failed",
}


@dataclass(frozen=True)
class AttemptSeen:
    """One engine attempt with its joins. `request` and `call` are None where nobody else saw it."""

    attempt: EngineAttempt
    request: RequestRow | None
    call: ClientCall | None

    @property
    def joined(self) -> str:
        """Who else saw it: gateway, client or nobody (empty)."""
        if self.request is not None:
            return "gateway"
        return "client" if self.call is not None else ""

    @property
    def outcome(self) -> str:
        if self.request is not None:
            return str(self._gateway().get("status") or self.request.outcome)
        if self.call is not None:
            return self.call.outcome
        return _BY_ENDING[Ending(self.attempt.ending)]

    @property
    def engine_outcome(self) -> str:
        return _BY_ENDING[Ending(self.attempt.ending)]

    @property
    def disagrees(self) -> bool:
        """The engine counts an answer where the caller got none, or the other way round."""
        if not self.joined or not self.engine_outcome:
            return False
        return (self.outcome in _ANSWERED) != (self.engine_outcome in _ANSWERED)

    @property
    def started_at(self) -> datetime | None:
        """Wall time of the first stamp; None for a steady clock without an anchor."""
        first, source = self.attempt.first_ns, self.attempt.source
        if self.attempt.clock == Clock.STEADY:
            if source.anchor_unix_ns is None or source.anchor_monotonic_ns is None:
                return None
            first += source.anchor_unix_ns - source.anchor_monotonic_ns
        return datetime.fromtimestamp(first / 1e9, UTC)

    @property
    def first_response_ms(self) -> float | None:
        """Until the first response since the request began, by the engine's own stamps."""
        return self._since_start(self._trace.first_response_ns)

    @property
    def last_response_ms(self) -> float | None:
        return self._since_start(self._trace.last_response_ns)

    @cached_property
    def _trace(self) -> Trace:
        return Trace(0, tuple((name, ns) for name, ns in self.attempt.stamps))

    def _since_start(self, stamp_ns: int | None) -> float | None:
        start_ns = self._trace.first("REQUEST_START")
        if stamp_ns is None:
            return None
        return (stamp_ns - (self.attempt.first_ns if start_ns is None else start_ns)) / 1e6

    def _gateway(self) -> dict[str, Any]:
        held: list[dict[str, Any]] = self.request.attempts if self.request is not None else []
        mine = (one for one in held if one.get("attempt_id") == self.attempt.attempt_id)
        return next(mine, {})


def attempts(product: Product, source_pk: int | None = None) -> QuerySet[EngineAttempt]:
    """Attempts; page them newest first by (received_at, id)."""
    found = EngineAttempt.objects.filter(product=product).select_related("source")
    return found if source_pk is None else found.filter(source_id=source_pk)


def joined(product: Product, found: Sequence[EngineAttempt]) -> list[AttemptSeen]:
    """These attempts with what the gateway and the client know of them; two queries."""
    ids = {attempt.attempt_id for attempt in found if attempt.attempt_id}
    by_attempt = _requests_by_attempt(product, ids)
    calls = ClientCall.objects.filter(product=product, request_id__in=ids)
    by_call = {call.request_id: call for call in calls}
    return [
        AttemptSeen(attempt, by_attempt.get(attempt.attempt_id), by_call.get(attempt.attempt_id))
        for attempt in found
    ]


def _requests_by_attempt(product: Product, ids: Iterable[str]) -> dict[str, RequestRow]:
    rows = RequestRow.objects.filter(product_id=product.pk, attempt_ids__overlap=sorted(ids))
    return {attempt_id: row for row in rows for attempt_id in row.attempt_ids}


@dataclass(frozen=True)
class ModelTimes:
    """Queue and compute times of one model, in milliseconds, nearest rank."""

    model: str
    executions: int
    queue_p50_ms: float | None
    queue_p95_ms: float | None
    compute_p50_ms: float | None
    compute_p95_ms: float | None


_MODEL_TIMES = """
SELECT model, count(*),
       percentile_disc(0.5) WITHIN GROUP (ORDER BY queue_ms),
       percentile_disc(0.95) WITHIN GROUP (ORDER BY queue_ms),
       percentile_disc(0.5) WITHIN GROUP (ORDER BY compute_ms),
       percentile_disc(0.95) WITHIN GROUP (ORDER BY compute_ms)
FROM (
    SELECT model, queue_ms, compute_ms FROM ingest_engineattempt
    WHERE product_id = %s AND (%s::bigint IS NULL OR source_id = %s)
    ORDER BY received_at DESC, id DESC LIMIT %s
) AS newest
GROUP BY model ORDER BY model
"""


def model_times(product: Product, source_pk: int | None = None) -> list[ModelTimes]:
    """Times by model, of the newest executions up to a bound; one never computed has none."""
    with connection.cursor() as cursor:
        cursor.execute(_MODEL_TIMES, [product.pk, source_pk, source_pk, MOST])
        return [ModelTimes(*row) for row in cursor.fetchall()]
