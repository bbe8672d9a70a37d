"""Trace files of Triton's own tracer (`--trace-config mode=triton`).

A file is one JSON array of small objects keyed by `id`, in the order of writing and not of time:
one header, one object for each timestamp, and tensor contents at level TENSORS. Older servers
wrote one object an id with lower-case names. Both are read. Stamps are nanoseconds of a steady
clock of the server's host, so they give durations and no wall time.

Triton does not escape request ids, and leaves the array open until the server stops, so a file
that is not JSON is cut at the starts of its objects and every whole object is kept.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Annotated

import msgspec
from msgspec import Meta

from orchid.formats.reading import UNDECODED, Lost, Nanoseconds, Reading
from orchid.formats.triton_phases import Trace

_OBJECT_START = re.compile(rb'\{\s*"(?:id|model_name|timestamps)"\s*:')
_AFTER_OBJECT = b", \t\r\n]"
_OLD_NAMES = {"REQUEST_HANDLER_START": "REQUEST_START", "REQUEST_HANDLER_END": "REQUEST_END"}


Version = Annotated[int, Meta(ge=-1, le=2**31 - 1)]  # -1: the newest


class _Stamp(msgspec.Struct, gc=False):
    name: str
    ns: Nanoseconds


class _Fragment(msgspec.Struct):
    """One object of the file. Tensor contents have no field here, so the decoder skips them."""

    id: int
    model_name: str | None = None
    model_version: Version | None = None
    request_id: str | None = None
    parent_id: int | None = None
    timestamps: list[_Stamp] = []
    activity: str | None = None


_ARRAY = msgspec.json.Decoder(list[_Fragment])
_ONE = msgspec.json.Decoder(_Fragment)


def read(data: bytes) -> Reading[Trace]:
    """Every trace of which the file holds at least one timestamp, in order of first mention."""
    lost: list[Lost] = []
    complete = True
    try:
        fragments = _ARRAY.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except UNDECODED:
        fragments = list(_salvage(data, lost))
        complete = data.rstrip().endswith(b"]")
    traces = list(_joined(fragments))
    tensors = sum(fragment.activity is not None for fragment in fragments)
    return Reading(traces, lost, complete, dropped_text=tensors)


def _salvage(data: bytes, lost: list[Lost]) -> Iterator[_Fragment]:
    starts = [match.start() for match in _OBJECT_START.finditer(data)]
    before = data[: starts[0]] if starts else data
    if before.strip(b"[ \t\r\n\xef\xbb\xbf"):
        lost.append(Lost(0, "no trace object begins here"))
    for start, end in pairwise([*starts, len(data)]):
        yield from _whole_object(data, start, end, lost)


def _whole_object(data: bytes, start: int, end: int, lost: list[Lost]) -> Iterator[_Fragment]:
    piece = data[start:end].rstrip(_AFTER_OBJECT)
    try:
        yield _ONE.decode(piece)
        return
    except UNDECODED as error:
        reason = _reason(piece, error)
    # The start of the next object, cut too short to be seen as one, may hang on a whole one.
    close = piece.rfind(b"}") + 1
    try:
        yield _ONE.decode(piece[:close])
        lost.append(Lost(start + close, reason))
    except UNDECODED:
        lost.append(Lost(start, reason))


def _reason(piece: bytes, error: Exception) -> str:
    if isinstance(error, msgspec.ValidationError):
        return str(error)
    if not piece.endswith(b"}"):
        return "the file ends inside this object"
    if b'"request_id"' in piece:
        return "the request id holds a character that Triton does not escape"
    return f"not a JSON object: {error}"


def _joined(fragments: Iterable[_Fragment]) -> Iterator[Trace]:
    headers: dict[int, _Fragment] = {}
    stamps: dict[int, dict[tuple[str, int], None]] = defaultdict(dict)
    for fragment in fragments:
        if fragment.model_name is not None:
            headers[fragment.id] = fragment
        for stamp in fragment.timestamps:
            # A dict keeps the order and drops an event that was written twice.
            stamps[fragment.id][event_name(stamp.name), stamp.ns] = None
    for trace_id, events in stamps.items():
        yield _trace(trace_id, headers.get(trace_id), tuple(events))


def _trace(trace_id: int, header: _Fragment | None, events: tuple[tuple[str, int], ...]) -> Trace:
    if header is None:
        return Trace(trace_id, events)
    return Trace(
        trace_id,
        events,
        model=header.model_name,
        model_version=header.model_version,
        request_id=header.request_id or None,
        parent_id=header.parent_id or None,
    )


def event_name(written: str) -> str:
    """Today's name of an event: older servers wrote `request handler start` and the like."""
    if written.isupper():
        return written
    name = written.upper().replace("WAIT/READ", "WAITREAD").replace(" ", "_")
    return _OLD_NAMES.get(name, name)
