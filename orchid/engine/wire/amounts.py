"""Amounts of dollars and TEU as records spell them: each distinct text is checked once.

Most are plain figures with a point. Those are read as whole numbers; every other spelling goes by
way of Decimal, which gives the same.
"""

from collections.abc import Iterable
from decimal import Decimal

from orchid.engine.rollup import EXACT
from orchid.engine.wire.fields import check_amount

#: Distinct amounts that are remembered; past it all are forgotten and met anew.
MOST_AMOUNTS = 100_000
#: So many figures before the point are below the limit of an amount.
_SURE_FIGURES = 15


def amount(text: str) -> Decimal:
    """The amount; ValueError or ArithmeticError for a text that is none."""
    value = Decimal(text)
    check_amount("amount", value)
    return value


class Parts(dict[str | None, int]):
    """Texts of amounts as whole parts, of which one unit has 10**places; half to even.

    What is unknown has 0 parts. A text that is no amount raises what `amount` raises.
    """

    def __init__(self, places: int) -> None:
        super().__init__({None: 0})
        self.places = places
        self._step = Decimal(1).scaleb(-places)

    def __missing__(self, text: str) -> int:
        if len(self) > MOST_AMOUNTS:
            self.clear()
            self[None] = 0
        self[text] = parts = self._plain(text)
        return parts

    def of(self, texts: Iterable[str | None]) -> list[int]:
        """The parts of each."""
        return list(map(self.__getitem__, texts))

    def _plain(self, text: str) -> int:
        whole, _, rest = text.partition(".")
        figures = whole + rest
        sure = len(whole) <= _SURE_FIGURES and len(rest) <= self.places
        if sure and whole and figures.isascii() and figures.isdigit():
            parts: int = int(figures) * 10 ** (self.places - len(rest))
            return parts
        return self.exactly(amount(text))

    def exactly(self, value: Decimal) -> int:
        """The parts of an amount, half to even."""
        return int(EXACT.divide(EXACT.quantize(value, self._step), self._step))


#: Millionths of a TEU.
TEU_PARTS = Parts(6)
#: 1e-12 dollars.
USD_PARTS = Parts(12)
