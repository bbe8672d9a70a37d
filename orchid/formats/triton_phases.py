"""One execution in Triton as events, and what the events say: phases, responses, how it ended."""

from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

import msgspec

#: In order of time, and by name where two stamps are of one moment.
by_time = itemgetter(1, 0)


class Ending(StrEnum):
    """How an execution ended, as far as its events can tell.

    Triton records no status. `ANSWERED` therefore covers an error that the model returned as its
    answer: only the caller's own record separates the two.
    """

    ANSWERED = "answered"
    QUEUE_TIMEOUT = "queue_timeout"
    QUEUE_FULL = "queue_full"
    CANCELLED = "cancelled"
    UNFINISHED = "unfinished"
    #: Never of Triton: a caller's span says that its call failed.
    FAILED = "failed"


class Phases(NamedTuple):
    """Durations in nanoseconds; None where one of the two events is missing."""

    queue_ns: int | None
    input_ns: int | None
    infer_ns: int | None
    output_ns: int | None
    compute_ns: int | None
    request_ns: int | None
    http_ns: int | None
    grpc_ns: int | None


class Trace(msgspec.Struct, frozen=True, dict=True):
    """All events of one id, in order of writing.

    `events` holds (name, ns) pairs and a name may repeat: a stream has one GRPC_SEND pair for each
    response. `id` is unique within one run of one server only.
    """

    id: int
    events: tuple[tuple[str, int], ...]
    model: str | None = None
    model_version: int | None = None
    request_id: str | None = None
    parent_id: int | None = None

    @cached_property
    def ordered(self) -> list[tuple[str, int]]:
        """The events in order of time."""
        return sorted(self.events, key=by_time)

    @cached_property
    def bounds(self) -> tuple[dict[str, int], dict[str, int]]:
        """By event the first of its times, and the last. (Of equal keys a dict keeps the last.)"""
        return dict(reversed(self.ordered)), dict(self.ordered)

    def times(self, name: str) -> list[int]:
        """Every time of one event, ascending."""
        lasts = self.bounds[1]
        if name not in lasts:
            return []
        if len(lasts) == len(self.events):  # no name repeats
            return [lasts[name]]
        return [ns for one, ns in self.ordered if one == name]

    def first(self, name: str) -> int | None:
        return self.bounds[0].get(name)

    def last(self, name: str) -> int | None:
        return self.bounds[1].get(name)

    def between(self, begin: str, end: str) -> int | None:
        """From the first of one event to the last of another; None unless that is a duration."""
        firsts, lasts = self.bounds
        if begin not in firsts or end not in lasts:
            return None
        taken = lasts[end] - firsts[begin]
        return taken if taken >= 0 else None

    @cached_property
    def first_ns(self) -> int:
        """The earliest stamp: with `id` it tells apart two server runs that reuse ids.

        GRPC_WAITREAD_START is left out when anything else is there: the server begins to wait long
        before the request exists.
        """
        for name, ns in self.ordered:
            if name != "GRPC_WAITREAD_START":
                return ns
        return self.ordered[0][1]

    @property
    def computed(self) -> bool:
        return "COMPUTE_START" in self.bounds[0]

    @property
    def first_response_ns(self) -> int | None:
        """The stamp of the first response: of its send where a stream sent several."""
        complete = self.first("INFER_RESPONSE_COMPLETE")
        return complete if complete is not None else self.first("GRPC_SEND_START")

    @property
    def last_response_ns(self) -> int | None:
        """The stamp of the last response."""
        times = self.times("INFER_RESPONSE_COMPLETE") + self.times("GRPC_SEND_START")
        return max(times) if times else None

    @property
    def responses(self) -> int:
        """How many responses left the server, as far as the events show."""
        sends = len(self.times("GRPC_SEND_START")) + len(self.times("HTTP_SEND_START"))
        return max(sends, len(self.times("INFER_RESPONSE_COMPLETE")))

    @cached_property
    def span_ns(self) -> tuple[int, int] | None:
        """Begin and end of the execution: of the request, else of its compute phase."""
        for begin, end in (("REQUEST_START", "REQUEST_END"), ("COMPUTE_START", "COMPUTE_END")):
            start, stop = self.first(begin), self.last(end)
            if start is not None and stop is not None and start <= stop:
                return start, stop
        return None


def phases(trace: Trace) -> Phases:
    """The documented phases. HTTP runs from receive to send; gRPC from the *end* of the wait."""
    span, between = trace.span_ns, trace.between
    return Phases(
        queue_ns=between("QUEUE_START", "COMPUTE_START"),
        input_ns=between("COMPUTE_START", "COMPUTE_INPUT_END"),
        infer_ns=between("COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START"),
        output_ns=between("COMPUTE_OUTPUT_START", "COMPUTE_END"),
        compute_ns=between("COMPUTE_START", "COMPUTE_END"),
        request_ns=span[1] - span[0] if span else None,
        http_ns=between("HTTP_RECV_START", "HTTP_SEND_END"),
        grpc_ns=between("GRPC_WAITREAD_END", "GRPC_SEND_END"),
    )


def children(traces: Iterable[Trace]) -> dict[int, list[Trace]]:
    """Traces by the id of their parent (an ensemble, or a model that calls others)."""
    by_parent: dict[int, list[Trace]] = defaultdict(list)
    for trace in traces:
        if trace.parent_id is not None:
            by_parent[trace.parent_id].append(trace)
    return dict(by_parent)


def exclusive_ns(parent: Trace, its_children: Iterable[Trace]) -> int | None:
    """Time of the parent in which no child ran; None where no child was recorded.

    Without child records the time can't be broken down, which is not the same as all of it being
    the parent's own.
    """
    span = parent.span_ns
    inner = [child.span_ns for child in its_children if child.span_ns is not None]
    if span is None or not inner:
        return None
    return span[1] - span[0] - _covered(span, inner)


def _covered(span: tuple[int, int], inner: list[tuple[int, int]]) -> int:
    covered, reached = 0, span[0]
    for start, stop in sorted(inner):
        start, stop = max(start, reached), min(stop, span[1])
        if stop > start:
            covered, reached = covered + stop - start, stop
    return covered


def ending(trace: Trace, *, composite: bool = False) -> Ending:
    """How it ended. A composite (ensemble) has no compute events of its own.

    Children never carry INFER_RESPONSE_COMPLETE, so a child that computed has answered.
    """
    answered = trace.first("INFER_RESPONSE_COMPLETE") is not None
    if trace.parent_id is not None:
        answered = answered or trace.first("COMPUTE_END") is not None
    if answered:
        return Ending.ANSWERED if trace.computed or composite else Ending.QUEUE_TIMEOUT
    if trace.first("REQUEST_END") is not None:
        return Ending.CANCELLED
    return Ending.UNFINISHED if trace.computed or composite else Ending.QUEUE_FULL
