"""Engine against gateway: what each says of the same requests, and what an engine can't see.

The gateway's requests are the denominator of everything; the engine's count stands beside them
only to show where the two differ.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ingest.selectors import engine_sql
from ingest.selectors.engine_view import read
from policies.models import Product

ANSWERED = frozenset({"completed", "bounded", "early_terminated"})

#: Why an engine tells another story of a request that its gateway ended so.
ENGINE_ANSWERED = {
    "cancelled": "The client left; the engine computed on, or had answered already.",
    "failed": "Triton counts an error that the model returned as an answer.",
    "timed_out": "The deadline passed at the gateway; the engine answered afterwards.",
    "truncated": "An answer cut at its limit is an answer to the engine.",
    "lost": "The answer left the engine and never reached the gateway.",
}
ENGINE_SILENT = {
    "rejected": "Refused before an engine was asked, or at Triton's full queue, which no counter "
    "and no span of it shows.",
    "deferred": "Not sent to an engine yet.",
    "cancelled": "The client left before an engine began, or its trace is not here.",
    "timed_out": "The time was over before an engine began, or its trace is not here.",
    "failed": "The engine was not reached, or its trace is not here.",
}
NO_TRACE = (
    "No trace of it is here: it comes later, was sampled away, or lacks the attempt's id as its "
    "request id."
)


@dataclass(frozen=True)
class Difference:
    """Requests that ended one way at the gateway and another, or not at all, at the engine."""

    outcome: str
    requests: int
    engine: str
    reason: str


@dataclass
class Agreement:
    """One route's requests as the gateway ended them, beside what an engine told of them."""

    route: str
    requests: int = 0
    answered: int = 0
    executions: int = 0
    engine_answered: int = 0
    agreed: int = 0
    differences: list[Difference] = field(default_factory=list)

    @property
    def share(self) -> float | None:
        """Answered of the gateway's requests."""
        return self.answered / self.requests if self.requests else None

    @property
    def engine_share(self) -> float | None:
        """Answered of the executions: never used, since the engine misses requests."""
        return self.engine_answered / self.executions if self.executions else None

    @property
    def differ(self) -> int:
        return sum(one.requests for one in self.differences)


@dataclass(frozen=True)
class Compared:
    """Every route of a window; `unclaimed` executions belong to no request of it."""

    routes: Sequence[Agreement]
    unclaimed: int

    @property
    def requests(self) -> int:
        return sum(one.requests for one in self.routes)

    @property
    def differences(self) -> list[tuple[str, Difference]]:
        """Each with its route, the most requests first."""
        found = [(one.route, each) for one in self.routes for each in one.differences]
        return sorted(found, key=lambda pair: -pair[1].requests)


def compared(product: Product, since: datetime) -> Compared:
    """The newest requests of the window, up to the bound of one view."""
    asked = {"product": product.pk, "since": since, "most": engine_sql.MOST}
    rows = read(engine_sql.AGREEMENT, asked)
    ((unclaimed,),) = read(engine_sql.UNCLAIMED, asked)
    by_route: dict[str, Agreement] = {}
    for route, *told in rows:
        _add(by_route.setdefault(route, Agreement(route)), *told)
    return Compared(list(by_route.values()), unclaimed)


def _add(
    to: Agreement,
    outcome: str,
    seen: bool,
    engine_answered: bool,
    requests: int,
    executions: Any,
    answered: Any,
) -> None:
    is_answer = outcome in ANSWERED
    to.requests += requests
    to.answered += requests if is_answer else 0
    to.executions += int(executions)
    to.engine_answered += int(answered)
    if seen and is_answer == engine_answered:
        to.agreed += requests
        return
    to.differences.append(_difference(outcome, seen, engine_answered, requests))


def _difference(outcome: str, seen: bool, engine_answered: bool, requests: int) -> Difference:
    if not seen:
        return Difference(outcome, requests, "nothing", ENGINE_SILENT.get(outcome, NO_TRACE))
    if engine_answered:
        return Difference(outcome, requests, "answered", ENGINE_ANSWERED.get(outcome, NO_TRACE))
    reason = "The gateway has an answer that this engine's trace does not show: another attempt."
    return Difference(outcome, requests, "no answer", reason)
