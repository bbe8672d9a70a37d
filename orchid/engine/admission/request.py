"""What admission is asked, and what it answers; times in milliseconds on the caller's clock."""

from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from orchid.engine.admission.budgets import Usage
from orchid.engine.segments import segment_of

if TYPE_CHECKING:
    from orchid.engine.admission.cell import Cell
    from orchid.engine.document.model import PolicyDocument


class Action(StrEnum):
    """What happens to a request at the door."""

    ADMIT = "admit"
    FALLBACK = "fallback"
    BOUND = "bound"
    DEFER = "defer"
    REJECT = "reject"


class Reason(StrEnum):
    """Why; the first group admits, the second defers, the others refuse."""

    REQUESTED = "requested"
    CONSERVATIVE_ROUTE = "conservative_route"
    FALLBACK_PREFERRED = "fallback_preferred"
    FALLBACK_OVERLOAD = "fallback_overload"
    FALLBACK_NEEDED = "fallback_needed"
    FALLBACK_SOURCES = "fallback_sources"
    BOUNDED_BY_DEADLINE = "bounded_by_deadline"
    OUTPUT_CAPPED = "output_capped"

    DEFERRED = "deferred"

    UNKNOWN_CLASS = "unknown_class"
    SHAPE_OVER_LIMIT = "shape_over_limit"
    CONTEXT_WINDOW = "context_window"
    CELL_UNCALIBRATED = "cell_uncalibrated"
    """Also admits: on the conservative route, where the document declares one."""
    FALLBACK_PROHIBITED = "fallback_prohibited"
    MANIFEST_INCOMPATIBLE = "manifest_incompatible"
    NO_WARM_REPLICA = "no_warm_replica"
    PRIVACY_CELL = "privacy_cell"
    BREAKER_OPEN = "breaker_open"
    SIGNALS_STALE = "signals_stale"
    DEADLINE_INFEASIBLE = "deadline_infeasible"
    MEMORY_INFEASIBLE = "memory_infeasible"
    TENANT_LIVE_TOKENS = "tenant_live_tokens"
    BUDGET_EXHAUSTED = "budget_exhausted"
    RETRY_BUDGET = "retry_budget"
    SHARE_EXHAUSTED = "share_exhausted"
    QUEUE_FULL = "queue_full"
    CONCURRENCY = "concurrency"
    OVERLOAD = "overload"


STEPS = {
    Reason.UNKNOWN_CLASS: "shape",
    Reason.SHAPE_OVER_LIMIT: "shape",
    Reason.CONTEXT_WINDOW: "shape",
    Reason.CELL_UNCALIBRATED: "options",
    Reason.FALLBACK_PROHIBITED: "options",
    Reason.OVERLOAD: "options",
    Reason.MANIFEST_INCOMPATIBLE: "place",
    Reason.NO_WARM_REPLICA: "place",
    Reason.PRIVACY_CELL: "place",
    Reason.BREAKER_OPEN: "place",
    Reason.SIGNALS_STALE: "place",
    Reason.DEADLINE_INFEASIBLE: "time",
    Reason.MEMORY_INFEASIBLE: "memory",
    Reason.TENANT_LIVE_TOKENS: "memory",
    Reason.BUDGET_EXHAUSTED: "budget",
    Reason.RETRY_BUDGET: "budget",
    Reason.SHARE_EXHAUSTED: "share",
    Reason.QUEUE_FULL: "queue",
    Reason.CONCURRENCY: "queue",
}
"""The step of each reason that refuses."""


class AdmissionRequest(msgspec.Struct, frozen=True, gc=False):
    """One logical request at the door.

    `deadline_ms` counts from the arrival; a shape that is not given takes the class's. `attempt`
    over 1 is a client's retry. A deferred request comes back as a new one that `continues` the
    first, with the first's arrival.
    """

    request_id: str
    class_: str
    arrived_ms: float
    tenant: str = "-"
    tenant_class: str | None = None
    region: str | None = None
    privacy_cell: str | None = None
    segment: Mapping[str, str] = {}
    input_tokens: int | None = None
    max_output_tokens: int | None = None
    cached_input_tokens: int = 0
    deadline_ms: float | None = None
    prefix: str | None = None
    modality: str = "text"
    attempt: int = 1
    continues: str | None = None
    first_arrived_ms: float | None = None
    external_calls: int = 0


class Shape(msgspec.Struct, frozen=True, gc=False):
    """A request measured against its policy. `cell` is its place in the decision table."""

    request: AdmissionRequest
    cell: "Cell"
    input_tokens: int
    output_tokens: int
    deadline_ms: float

    @property
    def due_ms(self) -> float:
        """The absolute deadline."""
        return self.request.arrived_ms + self.deadline_ms

    @property
    def route(self) -> str:
        """The requested route; empty when the request has none."""
        return self.cell.route

    @property
    def min_output_tokens(self) -> int | None:
        """The smallest useful bound; None when its output may not be bounded."""
        return self.cell.min_output_tokens

    @property
    def region(self) -> str | None:
        return self.request.region or self.cell.region

    @property
    def dimensions(self) -> Mapping[str, str]:
        """The request's values of the document's dimensions, unknown values as they were said."""
        if self.cell.dimensions is not None:
            return self.cell.dimensions
        tokens = self.input_tokens, self.output_tokens
        return dimensions_of(self.cell.document, self.request, *tokens)


def dimensions_of(
    document: "PolicyDocument", request: AdmissionRequest, input_tokens: int, output_tokens: int
) -> dict[str, str]:
    """Segment of a request with these lengths; its tenant class counts where it says no other."""
    extra = dict(request.segment)
    if request.tenant_class:
        extra.setdefault("tenant_class", request.tenant_class)
    return segment_of(document, request.class_, input_tokens, output_tokens, extra)


class Prediction(msgspec.Struct, frozen=True, gc=False):
    """Milliseconds of each part of the work left; None where the route declares no timing."""

    queue_ms: float
    prefill_ms: float | None
    decode_ms: float | None
    service_ms: float | None  # fixed, transfer, prefill and decode together


class Offer(msgspec.Struct, frozen=True, gc=False):
    """One way to serve the request that every check has passed."""

    action: Action
    reason: Reason
    route: str
    pool: str
    replica: str  # empty where no replica is needed, or none is free yet
    input_tokens: int  # fewer than asked where the route trims what is over its ceilings
    output_tokens: int
    factor: Decimal  # TEU of an output token
    input_weight: Decimal  # of an input token, in output tokens
    charge: float  # its TEU as the buckets count them
    usage: Usage | None  # what it takes of its tenant's budgets; None where there are none
    live_tokens: int
    prediction: Prediction
    completion_ms: float  # after arrival, without the post-model reserve
    path: tuple[int, ...]  # nodes of the share tree, deepest first
    lender: int  # the node of the share tree that pays beside its own
    wait: bool  # admitted to the bounded queue, not yet to the pool
    signal: str = "unused"
    signal_age_ms: float | None = None
    early_stop: str | None = None  # version of the stop that may end its answer early

    @property
    def teu(self) -> Decimal:
        """What it reserves, exactly: factor x (input weight x input + output)."""
        return self.factor * (self.input_weight * self.input_tokens + self.output_tokens)


class Deferral(msgspec.Struct, frozen=True, gc=False):
    """Work put off: its durable id, the wait before the next attempt, its last moment."""

    id: str
    after_ms: int
    until_ms: float


class Refusal(msgspec.Struct, frozen=True, gc=False):
    """What a refused client may do: come back after a while, or not at all."""

    reason: Reason
    retryable: bool
    after_ms: int | None
    budget: str | None
    status: int  # HTTP: 422 its shape, 429 a tenant's own limit, 503 the fleet
    scope: str = "fleet"  # request, tenant or fleet


class Constraint(msgspec.Struct, frozen=True, gc=False):
    """One question put to one option. `reason` is None where it passed; `text` its arithmetic."""

    option: str
    step: str
    reason: Reason | None
    text: str = ""


class Decision(msgspec.Struct, frozen=True, gc=False):
    """The answer: an offer, a deferral or a refusal; `explained` says why options fell out."""

    shape: Shape
    offer: Offer | None
    refusal: Refusal | None
    deferral: Deferral | None = None
    explained: tuple[Constraint, ...] = ()

    @property
    def action(self) -> Action:
        if self.offer is not None:
            return self.offer.action
        return Action.DEFER if self.deferral is not None else Action.REJECT

    @property
    def reason(self) -> Reason:
        if self.offer is not None:
            return self.offer.reason
        if self.deferral is not None:
            return Reason.DEFERRED
        assert self.refusal is not None
        return self.refusal.reason
