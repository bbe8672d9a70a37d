"""Has a cell's error moved since it was first seen? Watched for ever, looked at after every block.

Neighbouring requests share their batches and incidents, so blocks of at least 20 ratios and a
minute are compared and not requests: the mean logarithm of measured over predicted in each. While
nothing changes the blocks are exchangeable, and the place of the newest among all before it is a
p-value, uniform and independent of those before (conformal p-values: Vovk, Nouretdinov, Gammerman
2003). Each is bet on by 1 + c (p - 1/2) for a small grid of c, those above zero for errors that
shrink and those below for errors that grow, and the gains run through the Shiryaev-Roberts
recursion R = (R + 1) x gain (Vovk, Petej, Nouretdinov, Ahlberg, Carlsson, Gammerman 2021, "Retrain
or not retrain"; Shin, Ramdas, Rinaldo 2024). The mean of R over the grid is at least N with no
change after N blocks on average, so an alarm at `RUN_LENGTH` has that average run length to a false
one, however often it is looked at.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

LEAST_RATIOS, LEAST_MS = 20, 60_000.0
#: Blocks to a false alarm on average: two weeks at the least length of a block.
RUN_LENGTH = 20_000
STAKES = (-1.8, -1.0, 1.0, 1.8)
#: Newest blocks whose mean is held against those before it to say how far the error moved.
RECENT = 10
#: Logarithm from one place to the next; far under what any two blocks differ by.
STEP = 0.001
#: A ratio of 0 has no logarithm; this is less than any that is measured.
LEAST_LOG = -15.0


@dataclass(frozen=True, slots=True)
class Watch:
    """What is remembered of a cell: the block that is open, and the blocks before it.

    `places` counts closed blocks by their mean in `STEP`s, `recent` are the newest means, `wealth`
    the recursion's R by stake. `alarm_ms` is when it first reached the run length, and stays.
    """

    open_n: int = 0
    open_log: float = 0.0
    open_since_ms: float = 0.0
    places: Mapping[int, int] = field(default_factory=dict)
    recent: tuple[float, ...] = ()
    total_log: float = 0.0
    blocks: int = 0
    wealth: tuple[float, ...] = (0.0,) * len(STAKES)
    alarm_ms: float | None = None
    alarm_log: float | None = None

    @property
    def evidence(self) -> float:
        """The mean R; an alarm at `RUN_LENGTH`."""
        return sum(self.wealth) / len(self.wealth)

    @property
    def shift(self) -> float | None:
        """How much larger measured over predicted is lately, as a part; None before two stretches.

        At the alarm where there was one, since what is lately becomes what was before.
        """
        moved = self.alarm_log if self.alarm_log is not None else self._moved()
        return None if moved is None else math.expm1(moved)

    def _moved(self) -> float | None:
        before = self.blocks - len(self.recent)
        if before < RECENT:
            return None
        lately = sum(self.recent)
        return lately / len(self.recent) - (self.total_log - lately) / before


def log_of(ratio: float) -> float:
    """The logarithm that is averaged in a block."""
    return max(math.log(ratio), LEAST_LOG) if ratio > 0 else LEAST_LOG


def advance(watch: Watch, log_ratio: float, at_ms: float, turn: float) -> Watch:
    """One more ratio, in the order of arrival. `turn` in [0, 1) settles ties, and is the caller's.

    It must not depend on the ratio.
    """
    since = watch.open_since_ms if watch.open_n else at_ms
    n, total = watch.open_n + 1, watch.open_log + log_ratio
    opened = replace(watch, open_n=n, open_log=total, open_since_ms=since)
    if n < LEAST_RATIOS or at_ms - since < LEAST_MS:
        return opened
    return _closed(opened, total / n, at_ms, turn)


def _closed(watch: Watch, mean: float, at_ms: float, turn: float) -> Watch:
    place = round(mean / STEP)
    higher = sum(count for other, count in watch.places.items() if other > place)
    ties = watch.places.get(place, 0) + 1
    p = (higher + turn * ties) / (watch.blocks + 1)
    wealth = tuple((r + 1) * (1 + c * (p - 0.5)) for r, c in zip(watch.wealth, STAKES, strict=True))
    closed = replace(
        watch,
        open_n=0,
        open_log=0.0,
        places={**watch.places, place: ties},
        recent=(*watch.recent, mean)[-RECENT:],
        total_log=watch.total_log + mean,
        blocks=watch.blocks + 1,
        wealth=wealth,
    )
    if closed.alarm_ms is None and closed.evidence >= RUN_LENGTH:
        return replace(closed, alarm_ms=at_ms, alarm_log=closed._moved())
    return closed
