"""The one shape that every result of a load generator comes to."""

from dataclasses import dataclass, field
from enum import StrEnum

from orchid.formats.reading import Lost, UnreadableError

#: Bounds of one file: points, and metrics of a point.
MAX_POINTS = 2_000
MAX_METRICS = 200


class Loop(StrEnum):
    """How the load was made: requests at their own times, or the next after an answer."""

    OPEN = "open"
    CLOSED = "closed"
    UNKNOWN = ""


class Method(StrEnum):
    """How a tool picks its percentiles; figures of two methods are never averaged."""

    INVERTED_CDF = "inverted CDF (nearest rank)"
    LINEAR = "linear between order statistics"
    ROUNDED_INDEX = "order statistic at floor(p/100 (n-1) + 0.5)"
    BUCKETS = "interpolated within histogram buckets"
    UNSTATED = "not stated"
    NONE = ""


class Clock(StrEnum):
    """Where the times of a figure were taken."""

    CLIENT = "client"
    CLIENT_AND_SERVER = "client, and server for its own parts"
    ENGINE = "engine, monotonic"
    SCRAPED = "server, scraped by Prometheus"
    SAMPLED = "engine, sampled"
    SIMULATED = "simulated"


@dataclass(frozen=True, slots=True)
class Metric:
    """Statistics of one quantity by name (mean, p95 ...; `value` where there is but one)."""

    unit: str
    statistics: dict[str, float]
    method: str
    clock: str


@dataclass(frozen=True, slots=True)
class Point:
    """One level of load: what was asked for, what came of it. An unknown count is None.

    `level` is the concurrency, or the requests a second asked for. `metrics` are the tool's own
    figures, `ours` are computed here from single requests.
    """

    label: str
    level: float | None = None
    requests: int | None = None
    errors: int | None = None
    cancelled: int | None = None
    warm_up: int | None = None
    duration_s: float | None = None
    offered_per_s: float | None = None
    achieved_per_s: float | None = None
    metrics: dict[str, Metric] = field(default_factory=dict)
    ours: dict[str, Metric] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trial:
    """What one file tells. `told` are facts of `engine.trial_evidence.Fact` by name.

    `unused` counts columns or names that were seen and not read; `whole` is false for a run that
    was stopped.
    """

    tool: str
    loop: Loop
    points: list[Point]
    lost: list[Lost] = field(default_factory=list)
    told: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    model: str = ""
    unused: int = 0
    whole: bool = True
    simulated: bool = False


def bounded(trial: Trial) -> Trial:
    """The trial; raises UnreadableError without a point, or with more than a page can show."""
    if not trial.points:
        reason = trial.lost[0].reason if trial.lost else "it has no row"
        raise UnreadableError(f"no point in this file: {reason}")
    if len(trial.points) > MAX_POINTS:
        raise UnreadableError(f"{len(trial.points)} points; expected up to {MAX_POINTS}")
    widest = max(len(point.metrics) for point in trial.points)
    if widest > MAX_METRICS:
        raise UnreadableError(f"{widest} metrics of one point; expected up to {MAX_METRICS}")
    return trial
