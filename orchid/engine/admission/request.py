"""What admission is asked, and what it answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum


class Action(StrEnum):
    """What happens to a request at the door."""

    ADMIT = "admit"
    FALLBACK = "fallback"
    BOUND = "bound"
    REJECT = "reject"


class Reason(StrEnum):
    """Why; the first group admits, the others refuse."""

    REQUESTED = "requested"
    CONSERVATIVE_ROUTE = "conservative_route"
    FALLBACK_PREFERRED = "fallback_preferred"
    FALLBACK_OVERLOAD = "fallback_overload"
    FALLBACK_NEEDED = "fallback_needed"
    BOUNDED_BY_DEADLINE = "bounded_by_deadline"

    UNKNOWN_CLASS = "unknown_class"
    CONTEXT_WINDOW = "context_window"
    FALLBACK_PROHIBITED = "fallback_prohibited"
    NO_WARM_REPLICA = "no_warm_replica"
    DEADLINE_INFEASIBLE = "deadline_infeasible"
    MEMORY_INFEASIBLE = "memory_infeasible"
    TENANT_LIVE_TOKENS = "tenant_live_tokens"
    BUDGET_EXHAUSTED = "budget_exhausted"
    SHARE_EXHAUSTED = "share_exhausted"
    QUEUE_FULL = "queue_full"
    CONCURRENCY = "concurrency"


@dataclass(frozen=True, slots=True)
class AdmissionRequest:
    """One logical request at the door. Times are milliseconds on the caller's one clock.

    `deadline_ms` counts from the arrival; a shape that is not given takes the class's.
    """

    request_id: str
    class_: str
    arrived_ms: float
    tenant: str = "-"
    tenant_class: str | None = None
    region: str | None = None
    segment: Mapping[str, str] = field(default_factory=dict)
    input_tokens: int | None = None
    max_output_tokens: int | None = None
    cached_input_tokens: int = 0
    deadline_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """A request measured against its policy: tokens, deadline, requested route and segment."""

    request: AdmissionRequest
    class_known: bool
    route: str
    input_tokens: int
    output_tokens: int
    min_output_tokens: int | None  # None: its output may not be bounded
    deadline_ms: float
    dimensions: Mapping[str, str]
    region: str | None

    @property
    def due_ms(self) -> float:
        """The absolute deadline."""
        return self.request.arrived_ms + self.deadline_ms


@dataclass(frozen=True, slots=True)
class Prediction:
    """Milliseconds of each part of the work left; None where the route declares no timing."""

    queue_ms: float
    prefill_ms: float | None
    decode_ms: float | None
    service_ms: float | None  # fixed, transfer, prefill and decode together


@dataclass(frozen=True, slots=True)
class Offer:
    """One way to serve the request that every check has passed."""

    action: Action
    reason: Reason
    route: str
    pool: str
    output_tokens: int
    teu: Decimal
    live_tokens: int
    prediction: Prediction
    completion_ms: float  # after arrival, without the post-model reserve
    lender: int  # the node of the share tree that pays beside its own
    wait: bool  # admitted to the bounded queue, not yet to the pool


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a refused client may do: come back after a while, or not at all."""

    reason: Reason
    retryable: bool
    after_ms: int | None
    budget: str | None
    status: int  # HTTP: 422 its shape, 429 a tenant's own limit, 503 the fleet


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer: an offer or a refusal; `explained` says why other options fell out."""

    shape: Shape
    offer: Offer | None
    refusal: Refusal | None
    explained: tuple[tuple[str, Reason], ...] = ()

    @property
    def action(self) -> Action:
        return self.offer.action if self.offer else Action.REJECT

    @property
    def reason(self) -> Reason:
        if self.offer is not None:
            return self.offer.reason
        assert self.refusal is not None
        return self.refusal.reason
