"""What must be known of a body of records before the first of them is stored.

A glance reads four fields of each line and passes over the rest, for a tenth of the price of
reading it. It takes more lines than the reader does; what it learns from a line that is refused
later is still a value that a record may hold.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, TypeGuard

import msgspec
from msgspec import Meta, Raw

from orchid.engine.wire.diagnosis import UNDECODED
from orchid.engine.wire.fields import TEXT_FIELDS, Dimensions, Instant, Name
from orchid.engine.wire.records import BYTE_ORDER_MARK

_ShortText = Annotated[str, Meta(max_length=128)]


class _Seen(msgspec.Struct, gc=False):
    arrived_at: Instant
    digest: _ShortText | None = None
    tenant: _ShortText | None = None
    in_rollup: bool = False
    segment: Raw = Raw(b"{}")


@dataclass
class Glance:
    """The values of a body's records, each once.

    `counted_s` are the arrivals of records that are counted one by one, in whole seconds since the
    epoch; `days` are those of all.
    """

    digests: set[str] = field(default_factory=set)
    tenants: set[str] = field(default_factory=set)
    segments: list[dict[str, str]] = field(default_factory=list)
    days: set[date] = field(default_factory=set)
    counted_s: dict[str, set[int]] = field(default_factory=dict)


def glance(data: bytes) -> Glance:
    """Look a body over; a line that is no record tells nothing."""
    seen = _seen(data.removeprefix(BYTE_ORDER_MARK))
    arrivals: dict[tuple[str, bool], set[int]] = defaultdict(set)
    for one in seen:
        arrivals[one.digest or "", one.in_rollup].add(int(one.arrived_at.timestamp()))
    days = {second // 86_400 for seconds in arrivals.values() for second in seconds}
    return Glance(
        {digest for digest, _ in arrivals},
        {tenant for tenant in {one.tenant for one in seen} if _is_name(tenant)},
        [segment for raw in {bytes(one.segment) for one in seen} for segment in _segments(raw)],
        {(_EPOCH + timedelta(days=day)).date() for day in days},
        {digest: seconds for (digest, in_rollup), seconds in arrivals.items() if not in_rollup},
    )


def _seen(data: bytes) -> list[_Seen]:
    try:
        return _many.decode_lines(data)
    except UNDECODED:
        return [one for line in data.split(b"\n") for one in _one(line)]


def _one(line: bytes) -> list[_Seen]:
    try:
        return [_many.decode(line)]
    except UNDECODED:
        return []


def _segments(raw: bytes) -> list[dict[str, str]]:
    try:
        segment = _segment.decode(raw)
    except UNDECODED:
        return []
    return [segment] if TEXT_FIELDS.isdisjoint(segment) else []


def _is_name(tenant: str | None) -> TypeGuard[str]:
    try:
        return msgspec.convert(tenant, Name) is not None
    except msgspec.ValidationError:
        return False


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_many = msgspec.json.Decoder(_Seen)
_segment = msgspec.json.Decoder(Dimensions)
