"""What arrives, what it costs in token-equivalents, and the manifests that serve it."""

from collections.abc import Mapping
from typing import Self

from pydantic import Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.values import (
    Count,
    Factor,
    Name,
    NonNegative,
    Positive,
    PositiveCount,
    Quantity,
    Section,
    Text,
)


class Demand(Section):
    """TEU = model factor x (input weight x input tokens + output tokens)."""

    version: Name
    input_weight: Factor
    model_factor: Mapping[Name, Factor]


class Kv(Section):
    """Shape of the cache: grouped-query heads, or one latent vector with its rotary part."""

    layers: PositiveCount
    kv_heads: PositiveCount | None = None
    head_dim: PositiveCount | None = None
    latent_dim: PositiveCount | None = None
    """Width of the compressed vector of multi-head latent attention."""
    rope_dim: PositiveCount | None = None
    value_bytes: Factor
    """Bytes of one stored value: 2 for 16 bit, 1 for 8 bit, 0.5 for 4 bit."""

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        grouped = (self.kv_heads, self.head_dim)
        latent = (self.latent_dim, self.rope_dim)
        if (None in grouped) == (None in latent) or (any(grouped) and any(latent)):
            raise PydanticCustomError(
                "kv_shape", "either kv_heads and head_dim, or latent_dim and rope_dim"
            )
        return self


class Timing(Section):
    """Declared service time of one request alone on a warm replica."""

    fixed_ms: NonNegative
    prefill_tokens_per_s: Positive
    decode_ms_per_token: NonNegative
    transfer_ms: NonNegative = 0.0


class Model(Section):
    """A pinned manifest; another precision or tokenizer is another model."""

    weights: Text
    tokenizer: Text
    adapter: Text | None = None
    precision: Name
    runtime: Text
    kernels: Text | None = None
    policy: Text | None = None
    validator: Text | None = None
    feature_contract: Text | None = None
    kv: Kv | None = None
    weights_gib: Quantity | None = None
    context_tokens: PositiveCount | None = None
    """Context window: input and reserved output together."""
    timing: Timing | None = None


class TrafficClass(Section):
    """One shape of request, how often it arrives and which route it asks for."""

    model: Name
    """The requested route: a key of `models`."""
    input_tokens: Count
    max_output_tokens: PositiveCount
    min_output_tokens: PositiveCount | None = None
    """Smallest useful bound; absent means that the output may not be bounded."""
    arrivals_per_s: Quantity
    interactive: StrictBool = True
    """False allows deferral."""
    deadline_ms: PositiveCount | None = None
    dimensions: Mapping[Name, Name] = Field(default_factory=dict)
