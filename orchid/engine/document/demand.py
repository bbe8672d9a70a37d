"""What arrives, what it costs in token-equivalents, and the manifests that serve it."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from orchid.engine.document.values import (
    Count,
    DeadlineMs,
    DurationMs,
    Factor,
    Name,
    NonNegative,
    Padding,
    Positive,
    PositiveCount,
    Probability,
    Quantity,
    Section,
    Selector,
    Text,
)

Modality = Literal["text", "image", "audio"]
Purpose = Literal["serving", "control", "shadow", "profiling", "evaluation", "background"]
#: Work that nobody waits for: the first that an overloaded fleet stops.
OPTIONAL_PURPOSES: frozenset[str] = frozenset({"shadow", "profiling", "evaluation"})


class Fitted(Section):
    """Where the factors come from."""

    runtime: Text
    """The server that the attempts ran on."""
    hardware: Text
    """The devices that they ran on."""
    measured: Text
    """When or in which run the attempts were measured."""
    attempts: PositiveCount
    """Attempts that the fit rests on."""


class DemandCell(Section):
    """A shape whose estimate calibration found wrong: padded, or not served by this route."""

    route: Name
    """The route whose estimate it corrects."""
    input_bucket: Name | None = None
    """The bucket's name (`513-4096`); absent takes every length."""
    output_bucket: Name | None = None
    """The bucket's name; absent takes every length."""
    pad: Padding | None = None
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
    """Names the model of demand in decisions and calibration."""
    input_weight: Factor
    """Work of an input token over that of an output token."""
    model_factor: Mapping[Name, Factor]
    """Work of an output token of each route over that of the reference route."""
    fitted: Fitted | None = None
    """Absent: the factors are declared and not measured."""
    cells: Annotated[tuple[DemandCell, ...], Field(max_length=2000)] = ()
    """Shapes that are priced or served otherwise, by calibration."""


class Kv(Section):
    """Shape of the cache: grouped-query heads, or one latent vector with its rotary part."""

    layers: PositiveCount
    """Layers that hold a cache."""
    kv_heads: PositiveCount | None = None
    """Key-value heads, fewer than attention heads where they are grouped."""
    head_dim: PositiveCount | None = None
    """Values of one head."""
    latent_dim: PositiveCount | None = None
    """Width of the compressed vector of multi-head latent attention."""
    rope_dim: PositiveCount | None = None
    """Width of the rotary part beside it."""
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
    """Before and after the model, whatever the length."""
    prefill_tokens_per_s: Positive
    """Input tokens that are read a second."""
    decode_ms_per_token: NonNegative
    """Of each output token."""
    transfer_ms: NonNegative = 0.0
    """To and from the device."""


class EarlyStop(Section):
    """A calibrated semantic stop: the answer is complete before the model ends it."""

    version: Name
    """Of the stop conditions."""
    evidence: Text
    """Where false stops are counted, segment by segment."""
    where: Selector
    """The segments that the evidence covers."""


Dependency = Literal["user", "tenant", "time", "content_version"]


class Cacheable(Section):
    """An answer may be kept, under a key of everything it depends on."""

    depends_on: Annotated[tuple[Dependency, ...], Field(min_length=1)]
    """All of them are part of the key."""


class Cancel(Section):
    """What closing the stream does at this upstream."""

    stops_generation: StrictBool
    """Whether the device stops working on it."""
    stops_billing: StrictBool
    """Whether tokens after it cost nothing."""


class Model(Section):
    """A pinned manifest; another precision or tokenizer is another model."""

    weights: Text
    """Digest or name of the weights."""
    tokenizer: Text
    """Counts this route's tokens."""
    adapter: Text | None = None
    """Absent: the bare weights."""
    precision: Name
    """Of the weights: fp16, int8 ..."""
    runtime: Text
    """The server and its version."""
    kernels: Text | None = None
    """Version of the kernels."""
    policy: Text | None = None
    """Version of the content policy that it is served with."""
    validator: Text | None = None
    """Version of what validates its answers."""
    feature_contract: Text | None = None
    """Version of the features that it is called with."""
    kv: Kv | None = None
    """Absent: its cache is not accounted."""
    weights_gib: Quantity | None = None
    """Memory of the weights on one device."""
    context_tokens: PositiveCount | None = None
    """Context window: input and reserved output together."""
    timing: Timing | None = None
    """Absent: feasibility in time is not computed."""
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
    """Absent: it is not known. What an attempt is charged follows its settle alone."""
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
    """What is reserved."""
    percentile: Probability
    """Part of the class's answers that end within `output_tokens`."""
    evidence: Text
    """Where the percentile was measured."""


class TrafficClass(Section):
    """One shape of request, how often it arrives and which route it asks for."""

    model: Name
    """The requested route: a key of `models`."""
    input_tokens: Count
    """The planned length; a request may have another."""
    max_output_tokens: PositiveCount
    """The planned output cap; a request may name a smaller or larger one."""
    min_output_tokens: PositiveCount | None = None
    """Smallest useful bound; absent means that the output may not be bounded."""
    arrivals_per_s: Quantity
    """Planned requests a second."""
    interactive: StrictBool = True
    """False allows deferral."""
    deadline_ms: DeadlineMs | None = None
    """From authenticated arrival; absent means the contract's."""
    dimensions: Mapping[Name, Name] = Field(default_factory=dict)
    """The class's values of the segments' dimensions."""
    purpose: Purpose = "serving"
    """What the work is for; overload stops shadow, profiling and evaluation first."""
    deferral: Deferral | None = None
    """Absent: a request that can't be served now is refused."""
    capped_output_tokens: PositiveCount | None = None
    """Output that an overloaded fleet still allows; absent means that it is not capped."""
    reserve: Reserve | None = None
    """Absent: the whole output cap is reserved."""
    modality: Modality = "text"
    """What its requests carry."""

    @model_validator(mode="after")
    def _only_async_waits(self) -> Self:
        if self.interactive and self.deferral is not None:
            raise PydanticCustomError("deferral", "deferral only beside interactive: false")
        return self
