"""Executions of one number apart from each other, and families within one run of a server.

A restarted server counts from 1 again, so a number is that of one execution only among stamps of
one time. An hour without a stamp parts two executions: no request waits so long, and no restart
comes back to the same number sooner without a new run being named.
"""

from collections.abc import Iterable

from orchid.formats.triton_phases import Trace, by_time

Event = tuple[str, int]
Span = tuple[int, int]

APART_NS = 3_600_000_000_000
#: No server serves in the first second of its host, so that a 0 beside later stamps is no time.
_BOOTED_NS = 1_000_000_000
#: The server begins to wait long before the request exists, so this belongs to what comes next.
WAITING = "GRPC_WAITREAD_START"


def epochs(events: Iterable[Event]) -> list[tuple[Event, ...]]:
    """The events of one number by execution, each in order of time; the same for any order."""
    ordered = taken(sorted(set(events), key=by_time))
    if not ordered or ordered[-1][1] - ordered[0][1] <= APART_NS:
        return [tuple(ordered)] if ordered else []
    return _parted(ordered)


def taken(ordered: list[Event]) -> list[Event]:
    """Without the stamps that were never taken: a backend that crashed leaves 0 in them.

    Takes events in order of time, where those are the first.
    """
    if not ordered or ordered[0][1] or ordered[-1][1] < _BOOTED_NS:
        return ordered
    return [event for event in ordered if event[1]]


def _parted(ordered: list[Event]) -> list[tuple[Event, ...]]:
    parts: list[list[Event]] = []
    waits: list[Event] = []
    reached = ordered[0][1] - APART_NS - 1
    for event in ordered:
        if event[0] == WAITING:
            waits.append(event)
            continue
        if event[1] - reached > APART_NS:
            parts.append([])
        parts[-1] += [*waits, event]
        waits, reached = [], event[1]
    if waits and parts:
        parts[-1] += waits
    return [tuple(part) for part in parts] or [tuple(waits)]


def extent(trace: Trace) -> Span:
    """First and last stamp of an execution, the wait before it apart."""
    return trace.first_ns, trace.ordered[-1][1]


def near(one: Span, other: Span) -> bool:
    """Whether two executions are of one time, so that a number names the same thing in both."""
    return one[0] - APART_NS <= other[1] and other[0] - APART_NS <= one[1]
