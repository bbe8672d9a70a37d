"""Hours above the steps: what is kept once the steps are dropped.

An hour keeps its populations and bounds by blocks of ten minutes, because the design effect of a
verdict is estimated from the shares of blocks. Histogram, figures, demand and money of a cell are
summed over the hour and stand in its first block. A block is one more cell in the hour's sheet:
the cell's number times eight, plus the place of the block.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from orchid.engine.rollup import Sums
from orchid.engine.rollup_bytes import Sheet

HOUR = timedelta(hours=1)
BLOCK = timedelta(minutes=10)
_PLACES = 8


def hour_of(at: datetime) -> datetime:
    """The start of the hour of a moment, UTC."""
    return at.replace(minute=0, second=0, microsecond=0)


def folded(steps: Iterable[tuple[datetime, Sheet]]) -> Sheet:
    """The hour's sheet from all of its steps, in whatever order they come."""
    hour: Sheet = {}
    first: dict[int, int] = {}
    for step_at, sheet in steps:
        place = (step_at - hour_of(step_at)) // BLOCK
        for cell, sums in sheet.items():
            hour.setdefault(cell * _PLACES + place, Sums()).merge(sums)
            first[cell] = min(place, first.get(cell, place))
    for key in list(hour):
        cell, place = divmod(key, _PLACES)
        if place != first[cell]:
            _give_sums(hour[key], hour[cell * _PLACES + first[cell]])
    return hour


def blocks(hour_at: datetime, hour: Sheet) -> Iterator[tuple[datetime, Sheet]]:
    """The blocks of an hour's sheet as if each were a step, in order of time."""
    apart: dict[int, Sheet] = {}
    for key, sums in hour.items():
        cell, place = divmod(key, _PLACES)
        apart.setdefault(place, {})[cell] = sums
    for place in sorted(apart):
        yield hour_at + place * BLOCK, apart[place]


def _give_sums(block: Sums, first: Sums) -> None:
    """Move everything but the populations and bounds, which stay the block's own."""
    first.merge(
        Sums(
            histogram=block.histogram,
            figures=block.figures,
            teu=block.teu,
            cost_usd=block.cost_usd,
        )
    )
    kept = Sums(block.counters, within=block.within, judged=block.judged, records=block.records)
    for name in ("histogram", "figures", "teu", "cost_usd"):
        setattr(block, name, getattr(kept, name))
