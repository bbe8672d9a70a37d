"""`orchid.request/v1`: what one logical request was, what was decided and what became of it.

Milliseconds count from the *intended* arrival (`arrived_at`) unless the name says otherwise; money
is a decimal string; what is unknown is null and never 0.
"""

from decimal import Decimal
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from orchid.engine.wire.diagnosis import UNDECODED, RecordError, why_refused
from orchid.engine.wire.fields import (
    TEXT_FIELDS,
    Action,
    AttemptStatus,
    Bytes,
    Code,
    Cohort,
    Count,
    Dimensions,
    InputConvention,
    Instant,
    Joules,
    Milliseconds,
    Name,
    Outcome,
    Probability,
    Tokens,
    check_amount,
)

MAX_RECORD_BYTES = 64 * 1024
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


AMOUNTS = (
    "external_usd",
    "teu_predicted",
    "teu_observed",
    "teu_prefill_predicted",
    "teu_prefill_observed",
    "teu_decode_predicted",
    "teu_decode_observed",
    "cost_usd",
)


class DecisionRecord(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """What admission answered, and what it predicted and reserved when it did."""

    action: Action
    route: Name | None = None
    reason: Code | None = None
    teu: Decimal | None = None  # reserved, at the declared maximum of output
    live_tokens: Tokens | None = None
    prefill_ms: Milliseconds | None = None
    decode_ms: Milliseconds | None = None
    queue_ms: Milliseconds | None = None
    completion_ms: Milliseconds | None = None
    output_tokens: Tokens | None = None
    transfer_bytes: Bytes | None = None
    completion_probability: Probability | None = None
    signal_age_ms: Milliseconds | None = None

    def __post_init__(self) -> None:
        check_amount("teu", self.teu)


class AttemptRecord(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One try to serve the request on one replica, with what it physically used."""

    attempt_id: Name
    route: Name | None = None
    pool: Name | None = None
    model: Name | None = None
    model_version: Name | None = None
    manifest: Name | None = None
    replica: Name | None = None
    status: AttemptStatus | None = None
    stop_reason: Code | None = None
    interrupted_after_tokens: Tokens | None = None
    start_ms: Milliseconds | None = None
    queue_ms: Milliseconds | None = None
    prefill_ms: Milliseconds | None = None
    decode_ms: Milliseconds | None = None
    transfer_ms: Milliseconds | None = None
    transfer_ready_ms: Milliseconds | None = None
    transfer_start_ms: Milliseconds | None = None
    transfer_end_ms: Milliseconds | None = None
    output_transfer_ms: Milliseconds | None = None
    preparation_ms: Milliseconds | None = None
    validation_ms: Milliseconds | None = None
    accelerator_ms: Milliseconds | None = None
    accelerator_prefill_ms: Milliseconds | None = None
    accelerator_decode_ms: Milliseconds | None = None
    host_cpu_ms: Milliseconds | None = None
    external_ms: Milliseconds | None = None
    external_usd: Decimal | None = None
    external_calls: Count | None = None
    batch_id: Name | None = None
    batch_size: Count | None = None
    useful_tokens: Tokens | None = None
    padded_tokens: Tokens | None = None
    teu_predicted: Decimal | None = None
    teu_observed: Decimal | None = None
    teu_prefill_predicted: Decimal | None = None
    teu_prefill_observed: Decimal | None = None
    teu_decode_predicted: Decimal | None = None
    teu_decode_observed: Decimal | None = None
    kv_bytes: Bytes | None = None
    kv_blocks_allocated: Count | None = None
    kv_blocks_peak: Count | None = None
    kv_blocks_live: Count | None = None
    kv_blocks_swapped: Count | None = None
    kv_blocks_recomputed: Count | None = None
    kv_blocks_released: Count | None = None
    live_token_ms: Milliseconds | None = None
    idle_token_ms: Milliseconds | None = None
    preemptions: Count | None = None
    transfer_bytes: Bytes | None = None
    energy_j: Joules | None = None
    cancel_requested_ms: Milliseconds | None = None
    released_ms: Milliseconds | None = None
    cost_usd: Decimal | None = None
    cost_parts_usd: Annotated[dict[Name, Decimal], Meta(max_length=16)] = msgspec.field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        for name in AMOUNTS:
            check_amount(name, getattr(self, name))
        for part in self.cost_parts_usd.values():
            check_amount("cost_parts_usd", part)


class RequestRecord(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One logical request, sent once: when it is terminal and its state is released."""

    request_id: Name
    product: Name
    arrived_at: Instant
    outcome: Outcome
    class_: Name = msgspec.field(name="class")
    schema: Literal["orchid.request/v1"] | None = None
    edge: Name | None = None
    publication: Count | None = None
    digest: Name | None = None
    cohort: Cohort = "incumbent"
    tenant: Name | None = None
    tenant_class: Name | None = None
    region: Name | None = None
    privacy_cell: Name | None = None
    session: Name | None = None
    segment: Dimensions = msgspec.field(default_factory=dict)
    continues: Name | None = None  # the request id whose deferred or capped work goes on here
    deadline_ms: Milliseconds | None = None
    admission_ms: Milliseconds | None = None
    first_token_ms: Milliseconds | None = None
    max_gap_ms: Milliseconds | None = None
    completion_ms: Milliseconds | None = None
    eligible: bool | None = None
    ineligible_reason: Code | None = None
    input_tokens: Tokens | None = None
    cached_input_tokens: Tokens | None = None
    cache_write_tokens: Tokens | None = None
    input_convention: InputConvention | None = None
    max_output_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    reasoning_tokens: Tokens | None = None  # part of output_tokens
    decision: DecisionRecord | None = None
    stop_reason: Code | None = None
    scorer_confidence: Probability | None = None
    load_state: Code | None = None  # the overload rung at the decision
    policy_valid: bool | None = None
    schema_valid: bool | None = None
    released: bool | None = None  # false: the grace ended before the engine released the state
    in_rollup: bool = False  # its edge counts it in a rollup that it sends
    attempts: Annotated[tuple[AttemptRecord, ...], Meta(max_length=64)] = ()

    def __post_init__(self) -> None:
        if not TEXT_FIELDS.isdisjoint(self.segment):
            raise ValueError("a segment takes names of dimensions")


class Rejected(msgspec.Struct, frozen=True):
    """One refused line: its number (from 1), a stable code and what to do about it."""

    line: int
    code: str
    message: str
    field: str = ""


class Parsed(msgspec.Struct, frozen=True):
    """The records of a batch with their line numbers, and the lines that were refused."""

    records: list[tuple[int, RequestRecord]]
    rejected: list[Rejected]


_decoder = msgspec.json.Decoder(RequestRecord)
_encoder = msgspec.json.Encoder(order="deterministic")


def parse_record(line: bytes) -> RequestRecord:
    """Read one record; RecordError carries a code, the field and a message that quotes no value."""
    if len(line) > MAX_RECORD_BYTES:
        raise RecordError(
            "too_large", "", f"a record may have {MAX_RECORD_BYTES} bytes, this has {len(line)}"
        )
    try:
        return _decoder.decode(line)
    except UNDECODED as error:
        raise why_refused(line, error) from error


def parse_ndjson(data: bytes) -> Parsed:
    """Read a batch of one record a line. A bad line is reported and loses no neighbour."""
    parsed = Parsed([], [])
    for number, line in enumerate(data.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            parsed.records.append((number, parse_record(line)))
        except RecordError as error:
            parsed.rejected.append(Rejected(number, error.code, error.message, error.field))
    return parsed


def encode_record(record: RequestRecord) -> bytes:
    """One line of NDJSON, without its newline; equal records give equal bytes."""
    return _encoder.encode(record)
