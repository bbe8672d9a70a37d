"""What a driven run came to: counts and one latency histogram, small however long the run."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from orchid.engine.histogram import bucket_of, count_within, percentile_ms


@dataclass
class Tally:
    """Counts since the driver started. Latency is of requests that ended, from intended arrival."""

    offered: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    routes: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)
    publications: Counter[str] = field(default_factory=Counter)
    completion_ms: Counter[int] = field(default_factory=Counter)
    latest_start_ms: float = 0.0
    trace_files: int = 0
    problems: Counter[str] = field(default_factory=Counter)

    @property
    def in_flight(self) -> int:
        return self.offered - self.outcomes.total() - self.refusals.total()

    def started(self, late_ms: float) -> None:
        self.offered += 1
        self.latest_start_ms = max(self.latest_start_ms, late_ms)

    def refused(self, reason: str) -> None:
        self.refusals[reason] += 1

    def unanswered(self) -> None:
        """The edge gave no decision; nobody can say how the request would have gone."""
        self.outcomes["unanswered"] += 1

    def problem(self, text: str) -> None:
        self.problems[text[:160]] += 1

    def admitted(self, decision: dict[str, Any]) -> None:
        self.routes[str(decision["route"])] += 1
        self.actions[str(decision["action"])] += 1
        self.publications[str(decision["publication"])] += 1

    def ended(self, outcome: str, completion_ms: float) -> None:
        self.outcomes[outcome] += 1
        self.completion_ms[bucket_of(completion_ms)] += 1

    def line(self, seconds: float) -> str:
        """One line of progress."""
        p95 = percentile_ms(self.completion_ms, 0.95)
        return (
            f"{seconds:5.0f} s  offered {self.offered}  completed {self.outcomes['completed']}"
            f"  timed out {self.outcomes['timed_out']}  refused {self.refusals.total()}"
            f"  in flight {self.in_flight}  p95 {'-' if p95 is None else f'{p95:.0f} ms'}"
            f"  fallback {self.actions['fallback']}"
        )

    def summary(self, seconds: float, deadline_ms: float) -> dict[str, Any]:
        """The figures as plain data; a share that has no denominator is null."""
        within, _ = count_within(self.completion_ms, deadline_ms)
        return {
            "seconds": round(seconds, 1),
            "offered": self.offered,
            "outcomes": dict(self.outcomes),
            "refusals": dict(self.refusals),
            "routes": dict(self.routes),
            "actions": dict(self.actions),
            "publications": dict(self.publications),
            "p50_ms": percentile_ms(self.completion_ms, 0.5),
            "p95_ms": percentile_ms(self.completion_ms, 0.95),
            "within_deadline": within / self.offered if self.offered else None,
            "latest_start_ms": round(self.latest_start_ms, 1),
            "trace_files": self.trace_files,
            "problems": dict(self.problems),
        }
