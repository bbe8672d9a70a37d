"""What protects the fleet: queue, concurrency, live tokens, shares, retries, breakers, signals."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.values import (
    Count,
    DurationMs,
    Name,
    NonNegative,
    Positive,
    PositiveCount,
    PositiveShare,
    Probability,
    Quantity,
    Section,
    Share,
)


class Concurrency(Section):
    """Cap of requests in flight a replica, at the measured latency knee."""

    mode: Literal["static_knee", "queue_wait_aimd"]
    """A constant at the knee, or one that rises by steps and falls by a share on queue wait."""
    per_replica: PositiveCount
    """Requests in flight on one replica; where the adaptive mode starts."""
    floor: PositiveCount | None = None
    """Smallest cap that the adaptive mode may reach; not under baseline demand."""
    ceiling: PositiveCount | None = None
    """Largest cap that the adaptive mode may reach; absent means `per_replica`."""
    signal: Literal["queue_wait", "total_latency", "utilisation"] = "queue_wait"
    """What the adaptive mode follows; anything but queue wait is an error when proposed."""
    target_wait_ms: DurationMs = Field(default=100, alias="target_wait")
    """Queue wait above which the adaptive mode lowers the cap."""
    decrease: Probability = 0.9
    """The cap is multiplied by it when the wait is over the target."""
    increase: Positive = 1.0
    """Requests added to the cap when the wait is within the target."""


class LiveTokens(Section):
    """Ceilings of tokens whose cache is held at once."""

    per_device: PositiveCount
    """Tokens that the cache of one device holds."""
    per_tenant: PositiveCount
    """Tokens that one tenant may hold over all routes."""
    per_request: PositiveCount
    """Input and reserved output of one request."""
    per_route: Mapping[Name, PositiveCount] = Field(default_factory=dict)
    """Tokens that all requests of a route may hold together."""


class ShareNode(Section):
    """A level of the share tree, as fractions of its parent."""

    guaranteed: Share
    """Part of the parent's rate that this level gets whenever it has work."""
    ceiling: Share = 1.0
    """Part of the parent's rate that it may borrow up to."""
    children: "Mapping[Name, ShareNode]" = Field(default_factory=dict)
    """Levels below, by name."""


class QueueWeights(Section):
    """Weights of the order in the queue; the smallest weighted sum is served first."""

    slack: NonNegative = 1.0
    """Of the time left over the deadline."""
    attained: NonNegative = 1.0
    """Of what the tenant's share has got over what it is entitled to."""
    remaining: NonNegative = 0.1
    """Of the request's remaining work over the median."""
    age: NonNegative = 1.0
    """Of the time waited over the age bound; it counts in the request's favour."""
    live: NonNegative = 1.0
    """Of the tokens it would hold over those that are free."""


class Queue(Section):
    """How waiting requests are ordered."""

    age_bound_ms: DurationMs | None = Field(default=None, alias="age_bound")
    """An older entry goes first; absent means the contract's deadline."""
    weights: QueueWeights = QueueWeights()
    """How much each term counts."""


class Signals(Section):
    """How long what a replica tells of itself may be believed."""

    fresh_ms: DurationMs = Field(default=1_000, alias="fresh")
    """Up to this age a signal is used as it is."""
    hold_ms: DurationMs = Field(default=5_000, alias="hold")
    """Up to this age it is used with the penalty; beyond it only own counts and the static cap."""
    penalty_ms: DurationMs = Field(default=50, alias="penalty")
    """Added to the queue wait of a held signal."""
    floor_per_replica: PositiveCount = 1
    """Requests in flight that a replica without any signal may have."""

    @model_validator(mode="after")
    def _hold_after_fresh(self) -> Self:
        if self.hold_ms < self.fresh_ms:
            raise PydanticCustomError("signals", "hold at least as long as fresh")
        return self


RetryMeasure = Literal["attempts", "teu", "live_tokens"]
RETRY_MEASURES: tuple[RetryMeasure, ...] = ("attempts", "teu", "live_tokens")


class Retry(Section):
    """Retries allowed as a fraction of first attempts, and when a client may come back."""

    budget: Share
    """Retried work over first attempts in one window."""
    after_ms: tuple[Count, Count]
    """Smallest and largest wait; the jitter lies between."""
    window_ms: DurationMs = Field(default=10_000, alias="window")
    """The window that the budget is counted in."""
    attempts_per_request: PositiveCount = 3
    """Attempts of one logical request, the first included."""
    count: Annotated[tuple[RetryMeasure, ...], Field(min_length=1)] = RETRY_MEASURES
    """What the budget is counted in; it is spent when any of them is."""

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.after_ms[0] > self.after_ms[1]:
            raise PydanticCustomError("after_ms", "the smaller wait first in after_ms")
        return self


class Breaker(Section):
    """Takes a replica out after failures in a window, for a while."""

    failures: PositiveCount
    """Failures within the window that open it."""
    window_s: Positive
    """Seconds in which failures are counted together."""
    open_s: Positive
    """Seconds without requests before probes are let through."""
    probes: PositiveCount = 1
    """Requests let through at once to try a replica whose time is over."""


class Affinity(Section):
    """Sends requests with one prefix to the replica that holds its cache."""

    hot_at: PositiveShare
    """Part of a replica's limit from which the better of two others is taken instead."""


class Admission(Section):
    """Limits that every request is decided under."""

    max_queued_teu: Quantity
    """Work that may wait at once; more is refused."""
    concurrency: Concurrency
    """Requests in flight on one replica."""
    live_tokens: LiveTokens
    """Tokens held in cache at once."""
    shares: Mapping[Name, ShareNode] = Field(default_factory=dict)
    """The tree of guaranteed and borrowable rates; names are `level/name` or `control`."""
    queue: Queue = Queue()
    """The order in which waiting requests are served."""
    signals: Signals | None = None
    """Absent: no signal of a replica is used, only own counts."""
    retry: Retry
    """How much work may be tried again."""
    breaker: Breaker
    """When a failing replica gets no requests."""
    affinity: Affinity | None = None
    """Absent: no replica is preferred for a prefix."""
    conservative_route: Name | None = None
    """Route of a request whose class is unknown, priced at its upper bound."""
