"""Rates of arrivals by window: a burst shows that a mean over the whole hides."""

from collections import Counter
from collections.abc import Sequence

_LADDER = (1, 2, 5)


def windowed(at_ns: Sequence[int], width_ns: int) -> list[int]:
    """How many of the sorted moments fall into each window of that width after the first."""
    if not at_ns:
        return []
    counts = Counter((moment - at_ns[0]) // width_ns for moment in at_ns)
    return [counts[number] for number in range(max(counts) + 1)]


def peak(at_ns: Sequence[int], width_ns: int) -> int:
    """The most arrivals in one window; the windows start at the first arrival."""
    if not at_ns:
        return 0
    return max(Counter((moment - at_ns[0]) // width_ns for moment in at_ns).values())


def width_for(duration_ns: int, most: int = 120) -> int:
    """The narrowest window of 1, 2 or 5 times a power of ten, from 1 ms, that needs `most`."""
    step = 1_000_000
    while True:
        for times in _LADDER:
            if duration_ns < step * times * most:
                return step * times
        step *= 10
