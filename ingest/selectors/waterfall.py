"""The picture of one request: lanes on one axis, and the rows of the table that says the same."""

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


def waterfall(found: Sequence[Lane], ticks: int = 5) -> Waterfall:
    """Lanes on one axis; one without wall time begins at the arrival, and says that it does."""
    placed = [lane.offset_ms or 0.0 for lane in found]
    left = min([0.0, *placed])
    right = max((start + lane.end_ms for start, lane in zip(placed, found, strict=True)), default=0)
    width = max(right - left, 0.001)
    drawn = [DrawnLane(lane, list(_shapes(lane, left, width))) for lane in found]
    axis = [f"{left + width * step / (ticks - 1):,.0f}" for step in range(ticks)]
    rows = [row for lane in found for row in _rows(lane)]
    return Waterfall(drawn, axis, Table("Every phase and its clock", _COLUMNS, rows))


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
        yield Drawn(mark.name, "mark", round((zero + mark.at_ms) / width * 1000, 2), 2.0)


def _rows(lane: Lane) -> Iterable[Sequence[str]]:
    for bar in lane.bars:
        yield lane.title, bar.name, f"{bar.start_ms:,.3f}", f"{bar.duration_ms:,.3f}", lane.clock
    for mark in lane.marks:
        yield lane.title, mark.name, f"{mark.at_ms:,.3f}", "a moment", lane.clock
