"""Recorded requests as admission meets them: what was asked, when, and how long it took."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

import msgspec

from orchid.engine.admission.request import AdmissionRequest
from orchid.engine.decision_diff.recorded import Recorded, moment_ms
from orchid.engine.document.model import PolicyDocument
from orchid.engine.segments import segment_key
from orchid.engine.timing import deadline_ms
from orchid.engine.wire.records import RequestRecord

#: Records are written when requests end, so arrivals come somewhat out of order.
REORDERED = 16_384
SEGMENTS_REMEMBERED = 65_536


class Arrival(msgspec.Struct, frozen=True, gc=False):
    """One recorded request. `held_ms` is how long it occupied a replica of `route`."""

    request: AdmissionRequest
    segment: str
    route: str | None
    held_ms: float | None
    output_tokens: int | None


class Segment(NamedTuple):
    """The dimensions of requests and their spelling."""

    dimensions: Mapping[str, str]
    key: str


class Declared(NamedTuple):
    """What a class asks for where the caller says nothing."""

    output_tokens: int
    deadline_ms: float


class Arrivals:
    """Makes arrivals of records.

    A record carries its class's output cap and deadline even where the caller named none. One that
    equals what the document declares is therefore left to the document: otherwise a change of a
    class could never show.
    """

    def __init__(self, document: PolicyDocument) -> None:
        self._classes = {
            name: Declared(one.max_output_tokens, float(deadline_ms(document, name)))
            for name, one in document.classes.items()
        }
        self._unknown = Declared(-1, float(deadline_ms(document, None)))
        self._segments: dict[tuple[tuple[str, str], ...], Segment] = {}

    def of(self, record: Recorded | RequestRecord) -> Arrival:
        """The arrival of one record."""
        declared = self._classes.get(record.class_, self._unknown)
        cap, due = record.max_output_tokens, record.deadline_ms
        last = record.attempts[-1] if record.attempts else None
        dimensions, key = self._segment(record)
        return Arrival(
            AdmissionRequest(
                request_id=record.request_id,
                class_=record.class_,
                arrived_ms=moment_ms(record.arrived_at),
                tenant=record.tenant or "-",
                tenant_class=record.tenant_class,
                region=record.region,
                privacy_cell=record.privacy_cell,
                segment=dimensions,
                input_tokens=_input_tokens(record),
                max_output_tokens=None if cap == declared.output_tokens else cap,
                cached_input_tokens=record.cached_input_tokens or 0,
                deadline_ms=None if due == declared.deadline_ms else due,
                continues=record.continues,
            ),
            key,
            last.route if last is not None else None,
            _held_ms(record),
            record.output_tokens,
        )

    def _segment(self, record: Recorded | RequestRecord) -> Segment:
        """The record's segment, as one object for all that have it."""
        pairs = tuple(record.segment.items())
        found = self._segments.get(pairs)
        if found is None:
            found = Segment(record.segment, segment_key(record.segment))
            if len(self._segments) < SEGMENTS_REMEMBERED:
                self._segments[pairs] = found
        return found


def in_order(arrivals: Iterable[Arrival]) -> Iterator[Arrival]:
    """The arrivals by their time, as far as a bounded memory allows; ties keep their order."""
    given, held = iter(arrivals), list[Arrival]()
    while more := list(islice(given, REORDERED)):
        held += more
        held.sort(key=_arrived_ms)
        yield from held[:-REORDERED]
        del held[:-REORDERED]
    yield from held


def _arrived_ms(arrival: Arrival) -> float:
    return arrival.request.arrived_ms


def _input_tokens(record: Recorded | RequestRecord) -> int | None:
    """The whole input: some upstreams count what they read from a cache apart."""
    if record.input_tokens is None or record.input_convention != "excludes_cached":
        return record.input_tokens
    return record.input_tokens + (record.cached_input_tokens or 0)


def _held_ms(record: Recorded | RequestRecord) -> float | None:
    """From admission to release, else to completion; None where nothing says so."""
    if not record.attempts:
        return None
    last = record.attempts[-1]
    ended = last.released_ms if last.released_ms is not None else record.completion_ms
    began = last.start_ms if last.start_ms is not None else record.admission_ms
    if ended is None or ended < (began or 0.0):
        return None
    return ended - (began or 0.0)
