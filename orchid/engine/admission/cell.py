"""What the decision table holds: cells, and the ways to serve the requests of each."""

from collections.abc import Mapping
from decimal import Decimal

import msgspec

from orchid.engine.admission.request import Action, Reason
from orchid.engine.admission.route import RoutePolicy
from orchid.engine.document.demand import Deferral
from orchid.engine.document.model import PolicyDocument


class Option(msgspec.Struct, frozen=True):
    """One way to serve the requests of a cell, in the order of the cell's options.

    `refused` is what forbids it whatever the moment. `factor` is the price of an output token in
    TEU, padded where calibration asks for it.
    """

    route: str
    action: Action
    reason: Reason
    label: str
    factor: Decimal
    charge: float  # the same as the buckets count it
    input_atoms: int  # TEU atoms of an input token
    output_atoms: int  # and of an output token
    served: RoutePolicy
    manifest: str
    fixed_ms: float
    prefill_ms: float  # a token
    decode_ms: float  # a token
    timed: bool
    bounded: bool
    modelless: bool
    ceilings: bool  # the route has ceilings of its own
    window_tokens: int  # input and output together: the context window, or what has none
    path: tuple[int, ...]
    refused: Reason | None = None
    early_stop: str | None = None  # version of the stop that may end its answers early

    def service_ms(self, uncached_tokens: int, output_tokens: int) -> float:
        """Time on a warm replica without a wait; 0 where the route declares none."""
        return self.fixed_ms + uncached_tokens * self.prefill_ms + output_tokens * self.decode_ms


class Cell(msgspec.Struct, frozen=True):
    """What policy says of the requests of one class and segment."""

    document: PolicyDocument
    known: bool
    route: str
    region: str | None
    refused: Reason | None
    simple: bool  # nothing about its shape has to be asked for each request
    dimensions: Mapping[str, str] | None  # None: it holds requests of several segments
    input_tokens: int
    output_tokens: int
    min_output_tokens: int | None
    deadline_ms: float
    purpose: str
    claims: bool  # False: no claim on capacity in overload
    deferral: Deferral | None
    capped_output_tokens: int | None
    reserved_output_tokens: int | None
    reserves: bool  # a percentile instead of the cap
    limits_output: bool  # one of the two is given
    options: tuple[Option, ...]
    compact_first: tuple[Option, ...]  # in the order of the overload rung that prefers fallbacks
    prohibited: tuple[str, ...]
