"""The part of a request record that a decision is made from, read fast.

A whole record takes ten times as long to read, and a diff needs little of it. A line that doesn't
read is diagnosed by the full reader, so both give one code for one fault. Nothing else of a line is
kept, so what a sender should have left out doesn't come in.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from orchid.engine.wire.diagnosis import UNDECODED, RecordError, why_refused
from orchid.engine.wire.fields import (
    Action,
    Cohort,
    InputConvention,
    Instant,
    Milliseconds,
    Outcome,
    Tokens,
)
from orchid.engine.wire.records import MAX_RECORD_BYTES, Rejected, parse_record

COMBINATIONS_REMEMBERED = 65_536
# Patterns are what makes the full reader slow; it checks each combination of names once.
Short = Annotated[str, Meta(min_length=1, max_length=128)]


class RecordedDecision(msgspec.Struct, frozen=True, gc=False):
    """What the recorded generation answered."""

    action: Action
    route: Short | None = None


class RecordedAttempt(msgspec.Struct, frozen=True, gc=False):
    """Where an attempt ran, and when it held a replica."""

    route: Short | None = None
    start_ms: Milliseconds | None = None
    released_ms: Milliseconds | None = None


class Recorded(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """One request of `orchid.request/v1` as admission saw it, and how long it took."""

    request_id: Short
    arrived_at: Instant
    outcome: Outcome
    class_: Short = msgspec.field(name="class")
    cohort: Cohort = "incumbent"
    tenant: Short | None = None
    tenant_class: Short | None = None
    region: Short | None = None
    privacy_cell: Short | None = None
    segment: dict[Short, Short] = {}
    continues: Short | None = None
    deadline_ms: Milliseconds | None = None
    admission_ms: Milliseconds | None = None
    completion_ms: Milliseconds | None = None
    input_tokens: Tokens | None = None
    cached_input_tokens: Tokens | None = None
    input_convention: InputConvention | None = None
    max_output_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    decision: RecordedDecision | None = None
    attempts: tuple[RecordedAttempt, ...] = ()


#: An offset takes the first and the last hours of the calendar out of its years.
FIRST_MS, LAST_MS = -62_135_596_800_000.0, 253_402_300_799_000.0

_decoder = msgspec.json.Decoder(Recorded)


def read_recorded(line: bytes) -> Recorded:
    """One record of a line. Raises RecordError with the code and the field of its fault."""
    if len(line) > MAX_RECORD_BYTES:
        raise RecordError(
            "too_large", "", f"a record may have {MAX_RECORD_BYTES} bytes, this has more"
        )
    try:
        return _decoder.decode(line)
    except UNDECODED as error:
        raise why_refused(line, error) from error


def recorded(lines: Iterable[bytes]) -> Iterator[Recorded | Rejected]:
    """The records of NDJSON lines in their order; a line that is none comes with its reason.

    The first record of each combination of names is read whole: names come from small vocabularies
    and are sound or not wherever they appear.
    """
    sound: set[tuple[str | None, ...]] = set()
    for number, line in enumerate(lines, start=1):
        if not line or line.isspace():
            continue
        try:
            record = read_recorded(line)
            names = _names(record)
            if names not in sound or not _is_plain(record.request_id):
                parse_record(line)
                if len(sound) < COMBINATIONS_REMEMBERED:
                    sound.add(names)
            yield record
        except RecordError as error:
            yield Rejected(number, error.code, error.message, error.field)


def _is_plain(name: str) -> bool:
    return " " not in name and name.isprintable()


def _names(record: Recorded) -> tuple[str | None, ...]:
    segment, decision = record.segment, record.decision
    return (
        record.class_,
        record.tenant,
        record.tenant_class,
        record.region,
        record.privacy_cell,
        decision.route if decision is not None else None,
        *segment,
        *segment.values(),
    )


def moment_ms(at: datetime) -> float:
    """Milliseconds since the epoch."""
    return at.timestamp() * 1000.0


def moment_text(at_ms: float) -> str:
    """Milliseconds since the epoch as RFC 3339 in UTC; the nearest moment that has a year there."""
    within_ms = min(max(at_ms, FIRST_MS), LAST_MS)
    return datetime.fromtimestamp(within_ms / 1000.0, UTC).isoformat(timespec="milliseconds")
