"""What the pictures of trials and of traffic share: whose figures they are, and how they read."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from controlplane.figures import UNKNOWN, decimals
from ingest.models import Trial

LATENCY = "request_latency"
SHOWN = ("p50", "p95", "p99")
COLOURS = ("--accent", "--inconclusive", "--pass", "--fail")
#: Rows of a table; the API has the rest.
MOST_ROWS = 400
_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}

Point = dict[str, Any]


@dataclass(frozen=True)
class View:
    """A trial's points as one writer tells them: the tool itself, or we from single requests."""

    trial: Trial
    ours: bool

    @property
    def key(self) -> str:
        return "ours" if self.ours else "metrics"

    @property
    def name(self) -> str:
        whose = "computed here" if self.ours else self.trial.tool
        clocks = sorted({m["clock"] for p in self.trial.points for m in p[self.key].values()})
        return f"{whose}, {clocks[0]}" if clocks else whose

    def metric(self, point: Point, name: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = point[self.key].get(name)
        return found


def latency_ms(view: View, point: Point, statistic: str) -> float | None:
    metric = view.metric(point, LATENCY)
    if metric is None or statistic not in metric["statistics"] or metric["unit"] not in _MS:
        return None
    return float(metric["statistics"][statistic]) * _MS[metric["unit"]]


def number(value: float | None) -> str:
    """Four figures or so: what a trial measures is no more exact."""
    if value is None:
        return UNKNOWN
    size = abs(value)
    places = 0 if size >= 1000 or value == int(value) else 1 if size >= 100 else 3
    if 0 < size < 0.01:
        return f"{value:.3g}"
    return decimals(Decimal(repr(value)), places)
