"""What arrives, what it costs in token-equivalents, and the manifests that serve it."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.values import (
    Count,
    DurationMs,
    Factor,
    Name,
    NonNegative,
    Positive,
    PositiveCount,
    Probability,
    Quantity,
    Section,
    Selector,
    Text,
)

Modality = Literal["text", "image", "audio"]


class Fitted(Section):
    """Where the factors come from."""

    runtime: Text
    hardware: Text
    measured: Text
    """When or in which run the attempts were measured."""
    attempts: PositiveCount
    """Attempts that the fit rests on."""


class DemandCell(Section):
    """A shape whose estimate calibration found wrong: padded, or not served by this route."""

    route: Name
    input_bucket: Name | None = None
    """The bucket's name (`513-4096`); absent takes every length."""
    output_bucket: Name | None = None
    pad: Annotated[Factor, Field(ge=1)] | None = None
    """Multiplies the cell's estimates."""
    disabled: StrictBool = False
    """True sends its requests to the conservative route."""

    @model_validator(mode="after")
    def _one_measure(self) -> Self:
        if (self.pad is None) == (not self.disabled):
            raise PydanticCustomError("demand_cell", "either pad or disabled: true")
        return self


class Demand(Section):
    """TEU = model factor x (input weight x input tokens + output tokens)."""

    version: Name
    input_weight: Factor
    """Work of an input token over that of an output token."""
    model_factor: Mapping[Name, Factor]
    """Work of an output token of each route over that of the reference route."""
    fitted: Fitted | None = None
    cells: Annotated[tuple[DemandCell, ...], Field(max_length=2000)] = ()


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


class EarlyStop(Section):
    """A calibrated semantic stop: the answer is complete before the model ends it."""

    version: Name
    evidence: Text
    """Where false stops are counted, segment by segment."""
    where: Selector
    """The segments that the evidence covers."""


Dependency = Literal["user", "tenant", "time", "content_version"]


class Cacheable(Section):
    """An answer may be kept, under a key of everything it depends on."""

    depends_on: Annotated[tuple[Dependency, ...], Field(min_length=1)]


class Cancel(Section):
    """What closing the stream does at this upstream."""

    stops_generation: StrictBool
    stops_billing: StrictBool


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
    max_sequences: PositiveCount | None = None
    """Sequences of this route in flight at once, over all its replicas."""
    streaming: Literal["never", "after_validation", "incremental"] = "after_validation"
    """When a client may see tokens; incremental delivers what no whole-answer check has seen."""
    early_stop: EarlyStop | None = None
    """Absent: nothing ends before the model's own stop or its cap."""
    cacheable: Cacheable | None = None
    """Absent: no answer is kept."""
    pinned: StrictBool = True
    """False where the upstream may change the model under its name."""
    cancel: Cancel | None = None
    """Absent: a cancelled attempt is settled as if it ran to its cap."""
    over_budget_input: Literal["refuse", "trim_oldest", "trim_middle"] = "refuse"
    """What happens to input that is over the request's ceilings."""
    modality: Annotated[tuple[Modality, ...], Field(min_length=1)] = ("text",)
    """What it takes as input."""
    privacy_cells: tuple[Name, ...] = ()
    """The cells whose requests it may serve; absent means every cell."""


class Deferral(Section):
    """How asynchronous work waits for a later run."""

    deadline_ms: DurationMs = Field(alias="deadline")
    """From the first arrival to a complete answer."""
    max_queue_age_ms: DurationMs = Field(alias="max_queue_age")
    """Longest wait from the first arrival to the last attempt to run it."""
    after_ms: DurationMs = Field(alias="after")
    """Shortest wait before the next attempt."""


class Reserve(Section):
    """Reserves an approved percentile of the output instead of the cap; crossing it is a stop."""

    output_tokens: PositiveCount
    percentile: Probability
    """Part of the class's answers that end within `output_tokens`."""
    evidence: Text


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
    """From authenticated arrival; absent means the contract's."""
    dimensions: Mapping[Name, Name] = Field(default_factory=dict)
    """The class's values of the segments' dimensions."""
    purpose: Literal["serving", "control", "shadow", "profiling", "evaluation", "background"] = (
        "serving"
    )
    """What the work is for; overload stops shadow, profiling and evaluation first."""
    deferral: Deferral | None = None
    """Absent: a request that can't be served now is refused."""
    capped_output_tokens: PositiveCount | None = None
    """Output that an overloaded fleet still allows; absent means that it is not capped."""
    reserve: Reserve | None = None
    """Absent: the whole output cap is reserved."""
    modality: Modality = "text"

    @model_validator(mode="after")
    def _only_async_waits(self) -> Self:
        if self.interactive and self.deferral is not None:
            raise PydanticCustomError("deferral", "deferral only beside interactive: false")
        return self
