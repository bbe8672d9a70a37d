"""Thousands of selectors compared at once: sets of them as the bits of one number.

Comparing 2,000 selectors pair by pair is two million comparisons; here each question about one
selector is a handful of operations on 2,000-bit numbers. The meaning is that of `segments`.
"""

from collections.abc import Iterator, Sequence

from orchid.engine.segments import Where, specificity, values_of

Bits = int
"""Bit i stands for the selector at position i."""


class SelectorIndex:
    """A fixed list of selectors."""

    def __init__(self, wheres: Sequence[Where]) -> None:
        self.all: Bits = (1 << len(wheres)) - 1
        self._naming: dict[str, Bits] = {}
        self._allowing: dict[str, dict[str, Bits]] = {}
        self._of_size: dict[int, Bits] = {}
        for i, where in enumerate(wheres):
            self._add(1 << i, where)

    def _add(self, bit: Bits, where: Where) -> None:
        size = specificity(where)
        self._of_size[size] = self._of_size.get(size, 0) | bit
        for name, value in where.items():
            self._naming[name] = self._naming.get(name, 0) | bit
            allowing = self._allowing.setdefault(name, {})
            for each in values_of(value):
                allowing[each] = allowing.get(each, 0) | bit

    def overlapping(self, where: Where) -> Bits:
        """Those that one request can match together with `where`."""
        found = self.all
        for name, value in where.items():
            values = values_of(value)
            if not values:
                return 0
            naming = self._naming.get(name)
            if naming is None:
                continue
            allowing = 0
            for each in values:
                allowing |= self._allowing[name].get(each, 0)
            found &= allowing | ~naming
        return found

    def covering(self, where: Where) -> Bits:
        """Those that every request matches which matches `where`."""
        found = self.all
        for name, naming in self._naming.items():
            if name not in where:
                found &= ~naming
                continue
            for each in values_of(where[name]):
                found &= self._allowing[name].get(each, 0) | ~naming
        return found

    def within(self, where: Where) -> Bits:
        """Those all of whose requests match `where`; the other direction of `covering`."""
        found = self.all
        for name, value in where.items():
            allowed, beyond = set(values_of(value)), 0
            for each, allowing in self._allowing.get(name, {}).items():
                if each not in allowed:
                    beyond |= allowing
            found &= self._naming.get(name, 0) & ~beyond
        return found

    def of_size(self, size: int) -> Bits:
        """Those that name exactly `size` dimensions."""
        return self._of_size.get(size, 0)

    def over_size(self, size: int) -> Bits:
        """Those that are more specific than `size` dimensions."""
        found = 0
        for each, bits in self._of_size.items():
            if each > size:
                found |= bits
        return found


def positions(bits: Bits) -> Iterator[int]:
    """Positions of the set bits, lowest first."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def before(position: int) -> Bits:
    """The selectors ahead of a position."""
    return (1 << position) - 1
