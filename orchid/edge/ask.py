"""What clients of the edge send, read as strictly as a record is."""

from datetime import datetime
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from orchid.engine.wire.diagnosis import UNDECODED, RecordError, why_refused
from orchid.engine.wire.fields import (
    Code,
    Count,
    Dimensions,
    Instant,
    Milliseconds,
    Name,
    Probability,
    Tokens,
)

AskT = TypeVar("AskT")

#: A place is held until the deadline, and the watermark waits for the oldest open arrival: neither
#: may be put off for longer by what a client says.
LONGEST_MS = 3_600_000.0
AHEAD_MS = 5_000.0  # a client's clock may be that far before ours
Patience = Annotated[float, Meta(ge=0, le=LONGEST_MS)]

SettledAs = Literal[
    "completed",
    "failed",
    "timed_out",
    "cancelled",
    "truncated",
    "bounded",
    "early_terminated",
]
#: What ended so needs no other attempt.
SERVED = frozenset({"completed", "bounded", "early_terminated"})
Modality = Literal["text", "image", "audio"]


class Admit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """May this request be served? Lengths that are not given are its class's.

    The same id again while the request is open is its next attempt. `continues` names deferred
    work that this request runs; `prefix` a key of the shared beginning, never its words.
    """

    request_id: Name
    class_: Name = msgspec.field(name="class")
    tenant: Name = "-"
    tenant_class: Name | None = None
    region: Name | None = None
    privacy_cell: Name | None = None
    session: Name | None = None
    segment: Dimensions = {}
    input_tokens: Tokens | None = None
    cached_input_tokens: Tokens = 0
    max_output_tokens: Tokens | None = None
    deadline_ms: Patience | None = None  # after arrival
    arrived_at: Instant | None = None  # the intended arrival; the edge's clock when absent
    prefix: Name | None = None
    modality: Modality = "text"
    external_calls: Count = 0
    continues: Name | None = None


class Settle(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How an attempt ended, and that the server released its state. Times are from arrival.

    `interrupted_after_tokens` is the output that was there when something cut it short, and
    `scorer_confidence` what the scorer of a cascade gave the answer. With `final` false the request
    stays open for another attempt of its client.
    """

    attempt_id: Name
    status: SettledAs
    output_tokens: Tokens | None = None
    first_token_ms: Milliseconds | None = None
    max_gap_ms: Milliseconds | None = None
    completion_ms: Milliseconds | None = None
    policy_valid: bool | None = None
    schema_valid: bool | None = None
    accelerator_ms: Milliseconds | None = None
    finish_reason: Code | None = None
    interrupted_after_tokens: Tokens | None = None
    scorer_confidence: Probability | None = None
    final: bool = True

    def __post_init__(self) -> None:
        if not self.final and self.status in SERVED:
            raise ValueError(f"final is true where the status is {self.status}")
        if self.interrupted_after_tokens is not None and self.status == "completed":
            raise ValueError("interrupted_after_tokens is not of an attempt that completed")


class Cancel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The client gave up. An attempt that was dispatched holds its state until it is settled."""

    attempt_id: Name
    dispatched: bool = True


class Tell(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a replica says of itself. The wait is that of its own queue, never a total latency."""

    pool: Name
    replica: Name
    at: Instant
    queue_wait_ms: Milliseconds | None = None
    live_tokens: Tokens | None = None


def read(body: bytes, kind: type[AskT]) -> AskT:
    """The typed question; raises RecordError with a code and a field."""
    try:
        return msgspec.json.decode(body, type=kind)
    except UNDECODED as error:
        raise why_refused(body, error) from error


def refuse_far_moment(moment: datetime | None, field: str, now_ms: float) -> None:
    """Raise RecordError for a moment that can't be that of something that reaches us now."""
    if moment is not None and not now_ms - LONGEST_MS <= to_ms(moment) <= now_ms + AHEAD_MS:
        raise RecordError(
            "bad_time", field, f"{field}: it is in the future or more than an hour ago"
        )


def to_ms(moment: datetime) -> float:
    """Unix milliseconds."""
    return moment.timestamp() * 1000.0
