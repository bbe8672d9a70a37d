"""The picture of one request: lanes on one axis, and the rows of the table that says the same."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from controlplane.web import Column, Table
from ingest.selectors.lanes import Lane

_COLUMNS = (
    Column("Lane"),
    Column("Phase"),
    Column("Start ms", numeric=True),
    Column("Duration ms", numeric=True),
    Column("Clock"),
)
STEPS = 6  # of the axis, about
MARK_WIDTH = 2.0
_KEY = {
    "call": "client's call",
    "other": "not broken down",
    "preparation": "preparation",
    "admission": "admission",
    "queue": "queue",
    "prefill": "input and prefill",
    "decode": "inference and decode",
    "transfer": "output and transfer",
    "validation": "validation",
    "mark": "a moment",
}


@dataclass(frozen=True)
class Drawn:
    """A shape of a lane in thousandths of the picture's width."""

    name: str
    kind: str
    x: float
    width: float


@dataclass(frozen=True)
class DrawnLane:
    """A lane with its shapes; `indent` is its depth, so that a child stands under its parent."""

    lane: Lane
    shapes: Sequence[Drawn]

    @property
    def indent(self) -> int:
        return min(self.lane.depth, 5)


@dataclass(frozen=True)
class Waterfall:
    """The picture, its axis in milliseconds after the arrival, and the rows of its table."""

    lanes: Sequence[DrawnLane]
    ticks: Sequence[str]
    table: Table

    @property
    def key(self) -> list[tuple[str, str]]:
        """What each colour stands for, of those that are drawn."""
        drawn = {shape.kind for lane in self.lanes for shape in lane.shapes}
        told = {words: kind for kind, words in _KEY.items() if kind in drawn}
        return [(kind, words) for words, kind in told.items()]


def waterfall(found: Sequence[Lane]) -> Waterfall:
    """Lanes on one axis; one without wall time begins at the arrival, and says that it does."""
    placed = [lane.offset_ms or 0.0 for lane in found]
    left = min([0.0, *placed])
    right = max((start + lane.end_ms for start, lane in zip(placed, found, strict=True)), default=0)
    step = _step(max(right - left, 0.001))
    left = math.floor(left / step) * step
    steps = max(math.ceil((right - left) / step), 1)
    width = steps * step
    drawn = [DrawnLane(lane, list(_shapes(lane, left, width))) for lane in found]
    axis = [f"{left + step * each:,.10g}" for each in range(steps + 1)]
    rows = [row for lane in found for row in _rows(lane)]
    return Waterfall(drawn, axis, Table("Every phase and its clock", _COLUMNS, rows))


def _step(width_ms: float) -> float:
    """1, 2, 2.5 or 5 times a power of ten, so that the axis has four to eight steps or so."""
    rough = width_ms / STEPS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(times * power for times in (1, 2, 2.5, 5, 10) if times * power >= rough * 0.999)


def _shapes(lane: Lane, left: float, width: float) -> Iterator[Drawn]:
    zero = (lane.offset_ms or 0.0) - left
    for bar in lane.bars:
        yield Drawn(
            bar.name,
            bar.kind,
            round((zero + bar.start_ms) / width * 1000, 2),
            max(round(bar.duration_ms / width * 1000, 2), 1.5),
        )
    for mark in lane.marks:
        at = (zero + mark.at_ms) / width * 1000
        yield Drawn(mark.name, "mark", round(min(at, 1000 - MARK_WIDTH), 2), MARK_WIDTH)


def _rows(lane: Lane) -> Iterable[Sequence[str]]:
    """Starts stand where the picture has them: after the arrival, for a lane that is placed."""
    zero = lane.offset_ms or 0.0
    for bar in lane.bars:
        start = f"{zero + bar.start_ms:,.3f}"
        yield lane.title, bar.name, start, f"{bar.duration_ms:,.3f}", lane.clock
    for mark in lane.marks:
        yield lane.title, mark.name, f"{zero + mark.at_ms:,.3f}", "a moment", lane.clock
