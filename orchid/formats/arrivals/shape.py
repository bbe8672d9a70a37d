"""The one shape that recorded traffic comes to: arrivals in order, or only lengths, or rates."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from orchid.formats.reading import Lost, UnreadableError

#: Arrivals of one file: what a worker holds at once.
MAX_ARRIVALS = 1_000_000


class Holds(StrEnum):
    """What a trace has, and so what a replay can take from it."""

    ARRIVALS = "arrivals"
    LENGTHS = "lengths"
    RATES = "rates"
    DISTRIBUTIONS = "distributions"


class ClockOf(StrEnum):
    """What `at_ns` counts from."""

    UNIX = "unix"
    START = "start"
    NONE = ""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request as it arrived: nanoseconds of the trace's clock, tokens in and out.

    `failed` requests arrived and got no answer. `group` is what the trace sorts requests by (a
    model, a class), `prefix` are ids of shared blocks of the prompt. `late_ns` is how long after
    its arrival the driver sent it, where the trace tells both.
    """

    at_ns: int
    input_tokens: int
    output_tokens: int
    failed: bool = False
    session: str = ""
    group: str = ""
    prefix: tuple[int, ...] = ()
    late_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """One window of a traffic model: rate and shape of the gaps, or probabilities of lengths."""

    start_s: float
    rate_per_s: float | None = None
    cv: float | None = None
    family: str = ""
    shape: float | None = None
    scale: float | None = None
    input_tokens: dict[int, float] = field(default_factory=dict)
    output_tokens: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trace:
    """One file of traffic. `units` are those of the lengths in and out; `warm_up` is how many of
    the first requests the file itself calls warm-up."""

    title: str
    holds: Holds
    clock: ClockOf = ClockOf.NONE
    arrivals: list[Arrival] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unused: int = 0
    units: tuple[str, str] = ("tokens", "tokens")
    warm_up: int = 0

    @property
    def rows(self) -> int:
        return len(self.arrivals) or len(self.windows)


def in_order(arrivals: Iterable[Arrival], notes: list[str]) -> list[Arrival]:
    """Arrivals by time; those of one moment keep the order of the file. Says so when it sorts."""
    found = list(arrivals)
    ordered = sorted(found, key=lambda one: one.at_ns)
    moved = sum(a is not b for a, b in zip(found, ordered, strict=True))
    if moved:
        notes.append(f"{moved} rows were not in the order of their arrival and are sorted.")
    return ordered


def bounded(trace: Trace) -> Trace:
    """The trace; raises UnreadableError without a row, or with more than a worker may hold."""
    if not trace.rows:
        reason = trace.lost[0].reason if trace.lost else "it has no row"
        raise UnreadableError(f"no arrival in this file: {reason}")
    if trace.rows > MAX_ARRIVALS:
        raise UnreadableError(f"{trace.rows} rows; split the file, up to {MAX_ARRIVALS} in each")
    return trace
