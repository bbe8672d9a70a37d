"""What protects the fleet: queue, concurrency, live tokens, shares, retries, budgets, overload."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.values import (
    Count,
    DurationMs,
    Name,
    Positive,
    PositiveCount,
    Quantity,
    Section,
    Share,
    Usd,
)

OverloadRung = Literal[
    "stop_shadow", "defer_async", "cap_optional_output", "compact_fallback", "reject_infeasible"
]


class Concurrency(Section):
    """Cap of requests in flight a replica, at the measured latency knee."""

    mode: Literal["static_knee", "queue_wait_aimd"]
    per_replica: PositiveCount
    floor: PositiveCount | None = None
    """Smallest cap that the adaptive mode may reach."""


class LiveTokens(Section):
    """Ceilings of tokens whose cache is held at once."""

    per_device: PositiveCount
    per_tenant: PositiveCount
    per_request: PositiveCount


class ShareNode(Section):
    """A level of the share tree, as fractions of its parent."""

    guaranteed: Share
    ceiling: Share = 1.0
    children: "Mapping[Name, ShareNode]" = Field(default_factory=dict)


class Retry(Section):
    """Retries allowed as a fraction of first attempts, and when a client may come back."""

    budget: Share
    after_ms: tuple[Count, Count]
    """Smallest and largest wait; the jitter lies between."""

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.after_ms[0] > self.after_ms[1]:
            raise PydanticCustomError("after_ms", "the smaller wait first in after_ms")
        return self


class Breaker(Section):
    """Takes a replica out after failures in a window, for a while."""

    failures: PositiveCount
    window_s: Positive
    open_s: Positive


class Admission(Section):
    """Limits that every request is decided under."""

    max_queued_teu: Quantity
    concurrency: Concurrency
    live_tokens: LiveTokens
    shares: Mapping[Name, ShareNode] = Field(default_factory=dict)
    retry: Retry
    breaker: Breaker
    conservative_route: Name | None = None
    """Route of a request whose class is unknown, priced at its upper bound."""


class Scheduling(Section):
    """Quanta of the engine's scheduler."""

    prefill_chunk_tokens: PositiveCount
    max_decode_turns: PositiveCount
    kv_block_tokens: PositiveCount


class Budget(Section):
    """What one tenant may use in a window."""

    tenant: Name
    window_ms: DurationMs = Field(alias="window")
    max_teu: Quantity | None = None
    max_usd: Usd | None = None
    max_output_tokens: PositiveCount | None = None

    @model_validator(mode="after")
    def _some_cap(self) -> Self:
        if self.max_teu is None and self.max_usd is None and self.max_output_tokens is None:
            raise PydanticCustomError("budget", "one of max_teu, max_usd, max_output_tokens")
        return self


Overload = Annotated[tuple[OverloadRung, ...], Field(max_length=5)]
