"""Sums over groups of records, from columns."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orchid.engine.histogram import OVERFLOW
from orchid.engine.known import Known, Mask, Wholes
from orchid.engine.outcome import BIT_OF
from orchid.engine.rollup import EXACT, TEU_STEP, USD_STEP, Figure, Sums

#: The bucket of a record that latency doesn't count.
UNCOUNTED = -1


class Summed(NamedTuple):
    """What is summed, a record a row; a bound has the records compared with it, and who kept."""

    populations: Wholes
    buckets: Wholes
    judged: Mapping[str, Mask]
    within: Mapping[str, Mask]
    figures: Mapping[str, Known]
    teu: Wholes
    usd: Wholes

    def only(self, chosen: Mask) -> "Summed":
        """The same of some of the records."""
        return Summed(
            self.populations[chosen],
            self.buckets[chosen],
            {key: mask[chosen] for key, mask in self.judged.items()},
            {key: mask[chosen] for key, mask in self.within.items()},
            {n: Known(k.parts[chosen], k.told[chosen]) for n, k in self.figures.items()},
            self.teu[chosen],
            self.usd[chosen],
        )


class Grouping:
    """Records that share a number, brought together: sums of a column are runs of it."""

    def __init__(self, numbers: Wholes) -> None:
        self.order = np.argsort(numbers, kind="stable")
        ordered = numbers[self.order]
        self.first = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        #: A record of each group.
        self.members: list[int] = self.order[self.first].tolist()
        sizes = np.diff(np.r_[self.first, len(numbers)])
        self.sizes: list[int] = sizes.tolist()
        self._group = np.repeat(np.arange(len(sizes)), sizes)

    def total(self, column: NDArray[Any]) -> list[int]:
        whole = column.astype(np.int64) if column.dtype == np.bool_ else column
        found: list[int] = np.add.reduceat(whole[self.order], self.first).tolist()
        return found

    def largest(self, column: Wholes) -> list[int]:
        found: list[int] = np.maximum.reduceat(column[self.order], self.first).tolist()
        return found

    def counts(self, values: Wholes, most: int) -> Iterator[tuple[int, int, int]]:
        """Each value of each group with how often it is there; negative values are left out."""
        ordered = values[self.order]
        kept = ordered >= 0
        pairs = self._group[kept] * (most + 1) + ordered[kept]
        found, times = np.unique(pairs, return_counts=True)
        groups, kinds = np.divmod(found, most + 1)
        return zip(groups.tolist(), kinds.tolist(), times.tolist(), strict=True)


def sums_of_groups(summed: Summed, grouping: Grouping) -> list[Sums]:
    """The sums of every group, in its order."""
    usd, teu = grouping.total(summed.usd), grouping.total(summed.teu)
    found = [
        Sums(
            teu=EXACT.multiply(Decimal(teu[group]), TEU_STEP),
            cost_usd=EXACT.multiply(Decimal(usd[group]), USD_STEP),
            records=size,
        )
        for group, size in enumerate(grouping.sizes)
    ]
    held = {name: (summed.populations & bit) != 0 for name, bit in BIT_OF.items()}
    _count([one.counters for one in found], held, grouping)
    _count([one.judged for one in found], summed.judged, grouping)
    _count([one.within for one in found], summed.within, grouping)
    for group, bucket, times in grouping.counts(summed.buckets, OVERFLOW):
        found[group].histogram[bucket] = times
    for name, known in summed.figures.items():
        _add_figure(name, known, grouping, found)
    return found


def _count(counters: Sequence[Counter[str]], masks: Mapping[str, Mask], grouping: Grouping) -> None:
    for name, mask in masks.items():
        if mask.any():
            for counter, count in zip(counters, grouping.total(mask), strict=True):
                if count:
                    counter[name] = count


def _add_figure(name: str, known: Known, grouping: Grouping, found: Sequence[Sums]) -> None:
    if not known.told.any():
        return
    counts = grouping.sizes if known.told.all() else grouping.total(known.told)
    totals = grouping.total(known.parts)
    figures = zip(counts, totals, grouping.largest(known.parts), strict=True)
    for sums, (count, total, largest) in zip(found, figures, strict=True):
        if count:
            sums.figures[name] = Figure(count, total, largest)
