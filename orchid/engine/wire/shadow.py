"""`orchid.shadow/v1`: one request decided twice, by what is live and with what a candidate says.

In mode `shadow` the incumbent decided and the candidate was only asked. In mode `hard_limits` the
incumbent decided under the candidate's limits, and was asked what it would have done without them.
What differs and what it is near to is computed from the line (`orchid.engine.shadow`), not sent.
"""

from decimal import Decimal
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from orchid.engine.wire.diagnosis import UNDECODED, RecordError, why_refused
from orchid.engine.wire.fields import (
    TEXT_FIELDS,
    Action,
    Code,
    Count,
    Dimensions,
    Instant,
    Milliseconds,
    Name,
    Tokens,
    check_amount,
)
from orchid.engine.wire.records import BYTE_ORDER_MARK, Rejected

Mode = Literal["shadow", "hard_limits"]
#: Why an edge left decisions out: no reserve, or no room in time or memory.
PassedOver = Literal["overload", "behind", "memory", "unsent"]
#: Used over cap; past 1 where the decision refused for it.
UsedShare = Annotated[float, Meta(ge=0, le=1e6)]
MAX_LINE_BYTES = 8 * 1024


class Side(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One of the two decisions. `fell_out` has the reason of each option that was not taken.

    `budget_used` is the share of the tenant's tightest budget that is used once it is admitted.
    """

    action: Action
    reason: Code
    route: Name | None = None
    teu: Decimal | None = None
    live_tokens: Tokens | None = None
    queue_ms: Milliseconds | None = None
    completion_ms: Milliseconds | None = None  # predicted, from arrival
    output_tokens: Tokens | None = None
    budget_used: UsedShare | None = None
    fell_out: Annotated[dict[Name, Code], Meta(max_length=16)] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        check_amount("teu", self.teu)


class ShadowRecord(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True
):
    """One decision and the other one, at the moment `at` at which it was asked for.

    `passed_over` counts, by reason, decisions that this edge left out since its last line.
    """

    schema: Literal["orchid.shadow/v1"] = msgspec.field(default="orchid.shadow/v1")
    mode: Mode
    request_id: Name
    product: Name
    publication: Annotated[int, Meta(ge=1, le=2**31 - 1)]
    incumbent_digest: Name
    candidate_digest: Name
    at: Instant
    class_: Name = msgspec.field(name="class")
    incumbent: Side
    candidate: Side
    attempt: Annotated[int, Meta(ge=1, le=64)] = 1
    tenant: Name = "-"
    segment: Dimensions = msgspec.field(default_factory=dict)
    deadline_ms: Milliseconds | None = None
    input_tokens: Tokens | None = None
    max_output_tokens: Tokens | None = None
    passed_over: dict[PassedOver, Count] = msgspec.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not TEXT_FIELDS.isdisjoint(self.segment):
            raise ValueError("a segment takes names of dimensions")


class ParsedShadow(msgspec.Struct, frozen=True):
    """The lines of a batch with their numbers, and those that were refused."""

    records: list[tuple[int, ShadowRecord]]
    rejected: list[Rejected]


_decoder = msgspec.json.Decoder(ShadowRecord)
_encoder = msgspec.json.Encoder(order="deterministic")


def parse_shadow(line: bytes) -> ShadowRecord:
    """Read one line; RecordError carries a code, the field and a message that quotes no value."""
    if len(line) > MAX_LINE_BYTES:
        raise RecordError(
            "too_large", "", f"a line may have {MAX_LINE_BYTES} bytes, this has {len(line)}"
        )
    try:
        return _decoder.decode(line)
    except UNDECODED as error:
        raise why_refused(line, error) from error


def parse_shadows(data: bytes) -> ParsedShadow:
    """Read a batch of one decision a line. A bad line is reported and loses no neighbour."""
    parsed = ParsedShadow([], [])
    for number, line in enumerate(data.removeprefix(BYTE_ORDER_MARK).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            parsed.records.append((number, parse_shadow(line)))
        except RecordError as error:
            parsed.rejected.append(Rejected(number, error.code, error.message, error.field))
    return parsed


def encode_shadow(record: ShadowRecord) -> bytes:
    """One line of NDJSON, without its newline; equal records give equal bytes."""
    return _encoder.encode(record)
