"""What external upstreams charge, and what a tenant may spend."""

from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.values import (
    Count,
    DurationMs,
    Factor,
    Name,
    PositiveCount,
    Quantity,
    Section,
    Usd,
)

#: In the place of a tenant: each by itself.
EVERY_TENANT = "*"
CAPS = (
    "max_teu",
    "max_usd",
    "max_output_tokens",
    "max_live_token_ms",
    "max_external_calls",
)


class Budget(Section):
    """What one tenant may use in a window."""

    tenant: Name | Literal["*"]
    """A tenant, or `*` for each tenant by itself."""
    window_ms: DurationMs = Field(alias="window")
    """What use is summed over."""
    max_teu: Quantity | None = None
    """Token-equivalents, reserved ones included."""
    max_usd: Usd | None = None
    """Dollars of priced upstreams."""
    max_output_tokens: PositiveCount | None = None
    """Output tokens, reserved ones included."""
    max_live_token_ms: Quantity | None = None
    """Tokens held in cache times the milliseconds that they were held."""
    max_external_calls: Count | None = None
    """Calls to services outside, such as retrieval and features."""

    @model_validator(mode="after")
    def _some_cap(self) -> Self:
        if all(getattr(self, cap) is None for cap in CAPS):
            raise PydanticCustomError("budget", "one of " + ", ".join(CAPS))
        return self


Weight = Literal["requests", "teu", "successes", "equal"]


class Allocation(Section):
    """How the ledger of an hour is laid on requests, routes, the promise and the deployment."""

    direct: Literal["teu", "accelerator_ms"] = "teu"
    """What measures the work of a request; TEU where accelerator time was not told by all."""
    residency: Literal["replicas", "weights", "equal"] = "replicas"
    """How devices that stand ready are shared among the routes that need them."""
    reserve: Weight = "requests"
    """By what the headroom beyond the safe rate is shared: it keeps the promise to everybody."""
    common: Weight = "requests"
    """By what hosts, storage, network, control, validation and observability are shared."""
    investment: Literal["apart", "common"] = "apart"
    """What a shadow or a partly exposed candidate costs idle: told apart, or shared like common."""


class LongPrompt(Section):
    """The price of a request whose prompt is over a length; it holds for the whole request."""

    above_tokens: PositiveCount
    """Input tokens from which it holds."""
    input_usd_per_million: Usd
    """Of every input token."""
    output_usd_per_million: Usd
    """Of every output token."""


class Price(Section):
    """Dollars of a million tokens at an external upstream."""

    input_usd_per_million: Usd
    """Of input tokens that no cache held."""
    cached_input_usd_per_million: Usd | None = None
    """Of input tokens read from the upstream's cache; absent means the price of input."""
    cache_write_usd_per_million: Usd | None = None
    """Of input tokens written to it; absent means the price of input."""
    output_usd_per_million: Usd
    """Of output tokens, reasoning included."""
    batch_factor: Factor | None = None
    """Price of deferred work that the upstream runs as a batch, over its usual price."""
    long_prompt: LongPrompt | None = None
    """Absent: one price at every length."""
