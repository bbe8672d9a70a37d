"""The clocks of one response, and the bounds on them: one expression for a number or a column.

Nothing here asks whether it was given one request's figures or a million's: a comparison of floats
gives a truth, one of arrays gives a column of them. So what the edge counts by itself and what a
replay counts in bulk can't differ.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from orchid.engine.document.contract import LatencyGate
from orchid.engine.document.model import PolicyDocument
from orchid.engine.wire.records import RequestRecord

Figures = float | NDArray[np.float64]
Truths = bool | NDArray[np.bool_]

#: The clock that each latency gate of a document is read from.
CLOCK_OF_GATE = {
    "completion_p95_ms": "completion",
    "first_token_p95_ms": "first_token",
    "time_per_output_token_p95_ms": "time_per_output_token",
    "inter_token_gap_p95_ms": "inter_token",
}
#: Clocks that a response of a single token doesn't have.
BETWEEN_TOKENS = frozenset({"time_per_output_token", "inter_token"})


class Clocks(NamedTuple):
    """Milliseconds after the intended arrival; each a number or a column.

    What is unknown is NaN, which no bound holds for; an unknown count of tokens and the lack of a
    deadline of the caller's own are infinite.
    """

    first_token_ms: Figures
    max_gap_ms: Figures
    completion_ms: Figures
    output_tokens: Figures
    deadline_ms: Figures


def clocks_of(record: RequestRecord) -> Clocks:
    """The clocks of one record."""
    return Clocks(
        _or(record.first_token_ms, math.nan),
        _or(record.max_gap_ms, math.nan),
        _or(record.completion_ms, math.nan),
        _or(record.output_tokens, math.inf),
        _or(record.deadline_ms, math.inf),
    )


@dataclass(frozen=True, slots=True)
class LatencyBound:
    """A bound whose exact share the rollups count: a clock of the contract and milliseconds."""

    clock: str
    max_ms: float

    @property
    def key(self) -> str:
        """The name of the counter in a rollup's `within`, such as `completion<=1500`.

        Two bounds never share one: where six digits don't say all of the number, all of them do.
        """
        short = f"{self.max_ms:g}"
        exact = short if float(short) == self.max_ms else repr(self.max_ms).removesuffix(".0")
        return f"{self.clock}<={exact}"

    @classmethod
    def of(cls, key: str) -> Self:
        """The bound that a key names."""
        clock, _, max_ms = key.partition("<=")
        return cls(clock, float(max_ms))

    @property
    def population(self) -> str:
        """The requests that the bound speaks of."""
        return "inter_token_counted" if self.clock in BETWEEN_TOKENS else "latency_counted"


def latency_gates(document: PolicyDocument) -> dict[str, LatencyGate]:
    """The latency gates that the document has, by name; each gets a verdict of its own."""
    gates = {name: getattr(document.gates, name) for name in CLOCK_OF_GATE}
    return {name: gate for name, gate in gates.items() if gate is not None}


def bound_of(metric: str, gate: LatencyGate) -> LatencyBound:
    """The bound that a latency gate of this name sets."""
    return LatencyBound(CLOCK_OF_GATE[metric], float(gate.max))


def latency_bounds(document: PolicyDocument) -> tuple[LatencyBound, ...]:
    """The bounds that the document's latency gates need counted exactly."""
    return tuple(bound_of(name, gate) for name, gate in latency_gates(document).items())


def in_time(at: Clocks, declared_ms: Figures) -> Truths:
    """Whether the response was complete by the declared deadline, and by the caller's if sooner.

    A caller may be in more of a hurry than the contract; patience of its own makes no late answer
    a success.
    """
    return (at.completion_ms <= declared_ms) & (at.completion_ms <= at.deadline_ms)


def has_gaps(at: Clocks) -> Truths:
    """Whether the response has a time between tokens: a single token has none."""
    return at.output_tokens > 1


def keeps(at: Clocks, bound: LatencyBound) -> Truths:
    """Whether a delivered response kept the bound; a clock that nobody read kept none."""
    match bound.clock:
        case "completion":
            return at.completion_ms <= bound.max_ms
        case "first_token":
            return at.first_token_ms <= bound.max_ms
        case "inter_token":
            return has_gaps(at) & (at.max_gap_ms <= bound.max_ms)
        case "time_per_output_token":
            return _keeps_pace(at, bound.max_ms)
        case unknown:
            raise ValueError(f"there is no clock {unknown}")


def _keeps_pace(at: Clocks, max_ms: float) -> Truths:
    """(completion - first token) / (tokens - 1) <= bound, without its division by zero."""
    known = (at.output_tokens > 1) & (at.output_tokens < math.inf)
    ordered = at.first_token_ms <= at.completion_ms
    taken_ms, gaps = at.completion_ms - at.first_token_ms, at.output_tokens - 1
    return known & ordered & (taken_ms <= max_ms * gaps)


def _or(value: float | None, unknown: float) -> float:
    return unknown if value is None else float(value)
