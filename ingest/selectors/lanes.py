"""One request as lanes of bars: every clock by itself, and never two in one order without reason.

The gateway counts from the request's arrival. An engine's stamps become moments only by wall time:
a lane without it starts at its own first event, and says so. Wall clocks of two hosts agree only
as far as their clocks do, which the lane says too.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ingest.models import ClientCall
from ingest.selectors.explorer import Execution, Explored
from ingest.states import Clock

GATEWAY_CLOCK = "gateway, from arrival"
#: Milliseconds by which two hosts' wall clocks may differ before they order nothing.
TOLERANCE_MS = 100.0
OWN_ZERO = "durations only: starts at its own first event"
#: Phases of an attempt in the order in which they happen; the record has durations of them.
_PHASES = (
    ("queue", "queue_ms"),
    ("preparation", "preparation_ms"),
    ("prefill", "prefill_ms"),
    ("decode", "decode_ms"),
    ("transfer", "transfer_ms"),
    ("output transfer", "output_transfer_ms"),
    ("validation", "validation_ms"),
)
_MARKS = (("cancel asked", "cancel_requested_ms"), ("released", "released_ms"))
_ENGINE_BARS = (
    ("received", ("HTTP_RECV_START",), "HTTP_RECV_END", "other"),
    ("queue", ("QUEUE_START",), "COMPUTE_START", "queue"),
    ("input", ("COMPUTE_START",), "COMPUTE_INPUT_END", "prefill"),
    ("infer", ("COMPUTE_INPUT_END",), "COMPUTE_OUTPUT_START", "decode"),
    ("output", ("COMPUTE_OUTPUT_START",), "COMPUTE_END", "transfer"),
    ("sent", ("HTTP_SEND_START", "GRPC_SEND_START"), "HTTP_SEND_END", "other"),
)

_ENDS = ("REQUEST_START", "REQUEST_END")


@dataclass(frozen=True)
class Bar:
    """A phase: milliseconds from the zero of its lane's clock; `kind` chooses its colour."""

    name: str
    start_ms: float
    duration_ms: float
    kind: str


@dataclass(frozen=True)
class Mark:
    """A moment without length."""

    name: str
    at_ms: float


@dataclass(frozen=True)
class Lane:
    """One teller's bars on one clock. `offset_ms` is its zero after the arrival, where known."""

    title: str
    clock: str
    bars: Sequence[Bar]
    marks: Sequence[Mark] = ()
    offset_ms: float | None = None
    depth: int = 0
    outcome: str = ""

    @property
    def begin_ms(self) -> float:
        starts = [bar.start_ms for bar in self.bars] + [mark.at_ms for mark in self.marks]
        return min(starts, default=0.0)

    @property
    def end_ms(self) -> float:
        ends = [bar.start_ms + bar.duration_ms for bar in self.bars]
        return max([*ends, *(mark.at_ms for mark in self.marks)], default=0.0)


def lanes(explored: Explored) -> list[Lane]:
    """The client's calls, the gateway's own clocks, then each attempt with its executions."""
    arrived = explored.row.arrived_at
    found = [_call(call, arrived) for call in explored.calls]
    found.append(_gateway(explored.row))
    for attempt in explored.attempts:
        found.append(_attempt(attempt))
        mine = explored.executions_of(str(attempt.get("attempt_id", "")))
        found += [_execution(one, arrived) for one in mine]
    gateway_end = max(lane.end_ms for lane in found if lane.clock == GATEWAY_CLOCK)
    return [_honest(lane, gateway_end) for lane in found]


def _honest(lane: Lane, gateway_end_ms: float) -> Lane:
    """A lane that its wall clock puts outside the request is no moment of it: it stands alone."""
    offset = lane.offset_ms
    if offset is None or lane.clock == GATEWAY_CLOCK:
        return lane
    late = offset + lane.begin_ms - gateway_end_ms
    if offset >= -TOLERANCE_MS and late <= TOLERANCE_MS:
        return lane
    teller = lane.clock.partition(",")[0]
    off = f"{abs(offset):,.0f} ms {'before' if offset < 0 else 'after'} the arrival"
    clock = f"{teller}, durations only: the wall clock of its host says {off}"
    return replace(lane, offset_ms=None, clock=clock)


def _call(call: ClientCall, arrived: datetime) -> Lane:
    bars = [] if call.elapsed_ms is None else [Bar("call", 0.0, call.elapsed_ms, "call")]
    first = call.first_response_ms
    return Lane(
        f"client {call.source}",
        f"{call.source}, placed by the wall time of its host",
        bars,
        [] if first is None else [Mark("first response", first)],
        _ms(call.sent_at - arrived),
        outcome=call.outcome,
    )


def _gateway(row: Any) -> Lane:
    admission = row.admission_ms
    bars = [] if admission is None else [Bar("admission", 0.0, admission, "admission")]
    if row.completion_ms is not None:
        begin = admission or 0.0
        bars.append(Bar("to completion", begin, max(0.0, row.completion_ms - begin), "other"))
    first = [] if row.first_token_ms is None else [Mark("first token", row.first_token_ms)]
    return Lane("gateway", GATEWAY_CLOCK, bars, first, 0.0, outcome=row.outcome)


def _attempt(attempt: Mapping[str, Any]) -> Lane:
    title = f"attempt {attempt.get('attempt_id', '')}"
    title += f", {attempt['route']}" if attempt.get("route") else ""
    start = attempt.get("start_ms")
    marks = [Mark(name, attempt[key]) for name, key in _MARKS if attempt.get(key) is not None]
    clock = GATEWAY_CLOCK
    if start is None:
        clock = "gateway, durations only: its start was not told"
        marks = []
    bars = list(_phases(attempt, start or 0.0))
    return Lane(
        title, clock, bars, marks, None if start is None else 0.0, 1, attempt.get("status") or ""
    )


def _phases(attempt: Mapping[str, Any], start_ms: float) -> Iterator[Bar]:
    """One after another from the attempt's start: the record tells how long each took."""
    at = start_ms
    for name, key in _PHASES:
        took = attempt.get(key)
        if took is None:
            continue
        yield Bar(name, at, float(took), name.split()[-1])
        at += float(took)


def _execution(one: Execution, arrived: datetime) -> Lane:
    attempt, root = one.attempt, one.root
    zero = root.first_ns
    wall = _wall_time(one)
    title = f"{attempt.get_system_display()} {attempt.model or 'model not named'}"
    stamps = [(str(name), (int(ns) - zero) / 1e6) for name, ns in attempt.stamps]
    clock = (
        f"{attempt.source}, {OWN_ZERO}"
        if wall is None
        else f"{attempt.source}, placed by the wall time of its host"
    )
    return Lane(
        title,
        clock,
        list(_engine_bars(stamps)) or _whole(attempt, zero),
        list(_engine_marks(stamps)),
        None if wall is None else _ms(wall - arrived),
        2 + one.depth,
        attempt.ending,
    )


def _wall_time(one: Execution) -> datetime | None:
    """Wall time of the family's first stamp; None for a steady clock without an anchor."""
    first, source = one.root.first_ns, one.root.source
    if one.root.clock == Clock.STEADY:
        if source.anchor_unix_ns is None or source.anchor_monotonic_ns is None:
            return None
        first += source.anchor_unix_ns - source.anchor_monotonic_ns
    return datetime.fromtimestamp(first / 1e9, UTC)


def _engine_bars(stamps: Sequence[tuple[str, float]]) -> Iterator[Bar]:
    for name, starts, end, kind in _ENGINE_BARS:
        begin = min((at for event, at in stamps if event in starts), default=None)
        ends = [at for event, at in stamps if event in (end, end.replace("HTTP", "GRPC"))]
        if begin is not None and ends and max(ends) >= begin:
            yield Bar(name, begin, max(ends) - begin, kind)


def _engine_marks(stamps: Sequence[tuple[str, float]]) -> Iterator[Mark]:
    """What no bar begins or ends with, the ends of the request itself apart."""
    for event, at in stamps:
        if not (event in _ENDS or _in_a_bar(event)):
            yield Mark(event.lower().replace("_", " "), at)


def _in_a_bar(event: str) -> bool:
    plain = event.replace("GRPC", "HTTP")
    ends = {end for _, _, end, _ in _ENGINE_BARS}
    starts = {start.replace("GRPC", "HTTP") for _, begin, _, _ in _ENGINE_BARS for start in begin}
    return plain in ends or plain in starts or event.startswith("GRPC_WAITREAD")


def _whole(attempt: Any, zero: int) -> list[Bar]:
    """Of an engine that tells durations and no events: one bar of the request."""
    start = (attempt.first_ns - zero) / 1e6
    parts = [("queue", attempt.queue_ms), ("compute", attempt.compute_ms)]
    known = [(name, took) for name, took in parts if took is not None]
    if not known and attempt.request_ms is not None:
        known = [("request", attempt.request_ms)]
    bars, at = [], start
    for name, took in known:
        bars.append(Bar(name, at, took, {"queue": "queue", "compute": "decode"}.get(name, "other")))
        at += took
    return bars


def _ms(span: timedelta) -> float:
    return span / timedelta(milliseconds=1)
