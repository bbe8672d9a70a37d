"""Single requests of a trial, and the point that they make by our own percentile method."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from orchid.engine.sample import described
from orchid.engine.windows import peak
from orchid.formats.trials.shape import Method, Metric, Point


class Ended(StrEnum):
    """How one request of a trial ended; a failed or unfinished one has no latency."""

    ANSWERED = "answered"
    FAILED = "failed"
    CANCELLED = "cancelled"
    WARM_UP = "warm_up"


@dataclass(frozen=True, slots=True)
class Request:
    """One request: its times are durations within one clock, `sent_ns` is of any one clock.

    `gap_ms` is the mean time between output tokens, None below two tokens.
    """

    ended: Ended
    sent_ns: int | None = None
    ended_ns: int | None = None
    first_ms: float | None = None
    latency_ms: float | None = None
    gap_ms: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


def token_gap_ms(latency_ms: float, first_ms: float, output_tokens: int | None) -> float | None:
    """(last - first) / (n - 1) in milliseconds; undefined at one token."""
    if output_tokens is None or output_tokens < 2:
        return None
    return (latency_ms - first_ms) / (output_tokens - 1)


def ours(requests: Sequence[Request], clock: str) -> dict[str, Metric]:
    """Our figures over answered requests; a quantity that nobody has is left out."""
    answered = [one for one in requests if one.ended is Ended.ANSWERED]
    quantities: dict[str, tuple[str, list[float | None]]] = {
        "request_latency": ("ms", [one.latency_ms for one in answered]),
        "time_to_first_token": ("ms", [one.first_ms for one in answered]),
        "inter_token_latency": ("ms", [one.gap_ms for one in answered]),
        "input_sequence_length": ("tokens", [one.input_tokens for one in answered]),
        "output_sequence_length": ("tokens", [one.output_tokens for one in answered]),
    }
    found = {
        name: Metric(unit, described(known(values)), Method.INVERTED_CDF, clock)
        for name, (unit, values) in quantities.items()
    }
    return {name: metric for name, metric in found.items() if metric.statistics}


def point(
    requests: Sequence[Request],
    clock: str,
    *,
    label: str,
    level: float | None = None,
    offered_per_s: float | None = None,
    metrics: dict[str, Metric] | None = None,
) -> Point:
    """The point of these requests; rates are of what was observed, from first send to last end."""
    counted = [one for one in requests if one.ended is not Ended.WARM_UP]
    answered = _ended(counted, Ended.ANSWERED)
    duration_s = _duration_s(counted)
    return Point(
        label=label,
        level=level,
        requests=len(counted),
        errors=_ended(counted, Ended.FAILED),
        cancelled=_ended(counted, Ended.CANCELLED),
        warm_up=len(requests) - len(counted),
        duration_s=duration_s,
        offered_per_s=offered_per_s,
        achieved_per_s=answered / duration_s if duration_s else None,
        metrics=metrics or {},
        ours=ours(counted, clock),
    )


def sends(requests: Iterable[Request], asked_per_s: float | None) -> dict[str, Metric]:
    """Rate of the sends as they happened, and its peak in one window.

    A late sender's burst shows here and not in its setting. The window holds one request at the
    rate that was asked for, or is a second.
    """
    moments = known(one.sent_ns for one in requests if one.ended is not Ended.WARM_UP)
    at = sorted(int(moment) for moment in moments)
    if len(at) < 2:
        return {}
    width_ns = max(int(1e9 / asked_per_s), 1_000_000) if asked_per_s else 1_000_000_000
    rates = {f"peak in {width_ns / 1e6:g} ms": peak(at, width_ns) * 1e9 / width_ns}
    if at[-1] > at[0]:
        rates["mean"] = (len(at) - 1) * 1e9 / (at[-1] - at[0])
    return {"send_rate": Metric("requests/s", rates, Method.NONE, "client")}


def known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _ended(requests: Iterable[Request], how: Ended) -> int:
    return sum(one.ended is how for one in requests)


def _duration_s(requests: Sequence[Request]) -> float | None:
    starts = [one.sent_ns for one in requests if one.sent_ns is not None]
    ends = [one.ended_ns for one in requests if one.ended_ns is not None]
    if not starts or not ends:
        return None
    return max(max(ends) - min(starts), 0) / 1e9
