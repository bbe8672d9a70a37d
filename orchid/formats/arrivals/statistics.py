"""What recorded traffic looks like: rate, gaps, bursts and lengths, by our own percentile method.

The rate is (rows - 1) / duration; gaps are those of sorted arrivals, their variation is population
standard deviation over mean; the peak counts arrivals in whole seconds after the first.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from orchid.engine.sample import described
from orchid.engine.windows import peak, width_for, windowed
from orchid.formats.arrivals.shape import Arrival, Holds, Trace, Window

SECOND_NS = 1_000_000_000
Floats = npt.NDArray[np.float64]


def after_warm_up(
    arrivals: Sequence[Arrival], requests: int = 0, seconds: float = 0.0
) -> Sequence[Arrival]:
    """Arrivals without the first `requests`, and without those of the first seconds."""
    kept = arrivals[requests:]
    if not seconds or not kept:
        return kept
    since = arrivals[0].at_ns + int(seconds * SECOND_NS)
    return [one for one in kept if one.at_ns >= since]


def statistics(trace: Trace, arrivals: Sequence[Arrival]) -> dict[str, Any]:
    """Figures of a trace by name; those that it can't have are absent."""
    if trace.holds is Holds.RATES:
        return _rates(trace.windows)
    if trace.holds is Holds.DISTRIBUTIONS:
        return _distributions(trace.windows)
    found = _lengths(arrivals)
    return found | _timing(arrivals) if trace.holds is Holds.ARRIVALS else found


def rate_windows(arrivals: Sequence[Arrival]) -> dict[str, Any]:
    """Arrivals by window, some hundred of them: `width_s` and the counts in order."""
    at = [one.at_ns for one in arrivals]
    width_ns = width_for(at[-1] - at[0]) if at else SECOND_NS
    return {"width_s": width_ns / SECOND_NS, "counts": windowed(at, width_ns)}


def _lengths(arrivals: Sequence[Arrival]) -> dict[str, Any]:
    into = np.array([one.input_tokens for one in arrivals], dtype=np.float64)
    out = np.array([one.output_tokens for one in arrivals], dtype=np.float64)
    return {
        "failed": sum(one.failed for one in arrivals),
        "input": described(into.tolist()),
        "output": described(out.tolist()),
        "pearson": _correlation(into, out),
        "spearman": _correlation(_ranks(into), _ranks(out)),
    }


def _timing(arrivals: Sequence[Arrival]) -> dict[str, Any]:
    at = [one.at_ns for one in arrivals]
    gaps = np.diff(np.array(at, dtype=np.int64)).astype(np.float64)
    duration_s = (at[-1] - at[0]) / SECOND_NS if at else 0.0
    late = [one.late_ns / 1e6 for one in arrivals if one.late_ns is not None]
    return {
        "duration_s": duration_s,
        "rate_per_s": (len(at) - 1) / duration_s if duration_s else None,
        "gap_cv": float(gaps.std() / gaps.mean()) if gaps.size and gaps.mean() else None,
        "zero_gaps": int((gaps == 0).sum()),
        "longest_gap_s": float(gaps.max()) / SECOND_NS if gaps.size else None,
        "peak_in_1s": peak(at, SECOND_NS),
        "late_ms": described(late),
        "prefix_blocks": sum(len(one.prefix) for one in arrivals),
    }


def _correlation(left: Floats, right: Floats) -> float | None:
    """Pearson's; None where one side does not vary."""
    if left.size < 2 or not left.std() or not right.std():
        return None
    return float(np.corrcoef(left, right)[0, 1])


def _ranks(values: Floats) -> Floats:
    """Ranks from 1, equal values sharing the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2.0)[place], dtype=np.float64)


def _rates(windows: Sequence[Window]) -> dict[str, Any]:
    rates = [window.rate_per_s or 0.0 for window in windows]
    starts = [window.start_s for window in windows]
    busy = [window for window in windows if window.rate_per_s]
    return {
        "windows": len(windows),
        "busy_windows": len(busy),
        "window_s": min((b - a for a, b in pairwise(starts)), default=None),
        "rate": described(rates),
        "families": sorted({window.family for window in busy if window.family}),
    }


def _distributions(windows: Sequence[Window]) -> dict[str, Any]:
    filled = [window for window in windows if window.input_tokens and window.output_tokens]
    return {
        "windows": len(windows),
        "filled_windows": len(filled),
        "mean_input": described(_mean(window.input_tokens) for window in filled),
        "mean_output": described(_mean(window.output_tokens) for window in filled),
    }


def _mean(distribution: dict[int, float]) -> float:
    return sum(length * share for length, share in distribution.items())
