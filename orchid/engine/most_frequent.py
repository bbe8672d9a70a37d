"""The most frequent names of a stream in bounded memory, with how far each count may be off.

Space-Saving (Metwally, Agrawal and El Abbadi, 2005): when every place is taken, a new name takes
the place of the least counted one and carries its count as its own possible error. So no count of
a held name is too low, and each is too high by its error at most.
"""

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field

#: A name that faded to less than one request says nothing any more.
_LEAST = 1.0


@dataclass(frozen=True)
class Counted:
    """How often a name came at most, and how much of it may be others'."""

    most: float
    error: float = 0.0

    @property
    def least(self) -> float:
        return self.most - self.error


@dataclass
class MostFrequent:
    """Names with their counts, in as many places at most. What comes in one order comes to one."""

    places: int
    held: dict[str, Counted] = field(default_factory=dict)

    def fade(self, share: float) -> None:
        """Let what was counted weigh only this share of what comes next."""
        faded = {name: Counted(c.most * share, c.error * share) for name, c in self.held.items()}
        self.held = {name: count for name, count in faded.items() if count.most >= _LEAST}

    def add(self, counts: Mapping[str, int]) -> None:
        """Count names: held ones first, then new ones, the most frequent and the first by name."""
        for name in counts.keys() & self.held.keys():
            had = self.held[name]
            self.held[name] = Counted(had.most + counts[name], had.error)
        by_least = [(count.most, name) for name, count in self.held.items()]
        heapq.heapify(by_least)
        new = counts.keys() - self.held.keys()
        for name in sorted(new, key=lambda name: (-counts[name], name)):
            error = 0.0
            if len(by_least) >= self.places:
                error, gone = heapq.heappop(by_least)
                del self.held[gone]
            self.held[name] = Counted(error + counts[name], error)
            heapq.heappush(by_least, (error + counts[name], name))

    def of(self, name: str) -> Counted:
        return self.held.get(name, Counted(0.0))
