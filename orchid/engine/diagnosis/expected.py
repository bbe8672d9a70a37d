"""What recorded counts become when some requests are answered by another route.

Everything that the gates speak of is a ratio of sums, so a window is a vector of sums, and a change
of policy takes the vector of the requests it moves away and adds what as many requests came to on
the other route in the same segment. Nothing here is simulated: queues and batches stay as recorded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from orchid.engine.diagnosis.cells import Cell
from orchid.engine.diagnosis.change import NOTHING, over

#: Requests of a route in a segment below which nothing is expected of it there.
LEAST_RECORDED = 30


@dataclass(frozen=True, slots=True)
class Expected:
    """Sums over requests, whole or expected; `within` has (requests, good ones) by bound."""

    eligible: Fraction = NOTHING
    successes: Fraction = NOTHING
    served: Fraction = NOTHING
    violations: Fraction = NOTHING
    teu: Fraction = NOTHING
    usd: Fraction = NOTHING
    scored: Fraction = NOTHING
    unscored: Fraction = NOTHING
    within: Mapping[str, tuple[Fraction, Fraction]] | None = None

    def plus(self, other: "Expected", times: Fraction = Fraction(1)) -> "Expected":
        """Both together, the other so many times."""
        bounds = {**(self.within or {}), **(other.within or {})}
        none = (NOTHING, NOTHING)
        within = {}
        for bound in bounds:
            mine, others = (
                (self.within or {}).get(bound, none),
                (other.within or {}).get(bound, none),
            )
            within[bound] = (mine[0] + times * others[0], mine[1] + times * others[1])
        return Expected(
            self.eligible + times * other.eligible,
            self.successes + times * other.successes,
            self.served + times * other.served,
            self.violations + times * other.violations,
            self.teu + times * other.teu,
            self.usd + times * other.usd,
            self.scored + times * other.scored,
            self.unscored + times * other.unscored,
            within,
        )

    @property
    def attainment(self) -> Fraction | None:
        return over(self.successes, self.eligible)

    @property
    def utility(self) -> Fraction | None:
        """None without responses, or where some have no evidence."""
        return None if self.unscored else over(self.scored, self.served)

    def share_within(self, bound: str) -> Fraction | None:
        """The share of a latency gate's requests that keep its bound."""
        n, good = (self.within or {}).get(bound, (NOTHING, NOTHING))
        return over(good, n)

    def cost_usd(self, ledger_usd: Fraction) -> Fraction | None:
        """Dollars a success with the same fleet; None without a success."""
        return over(ledger_usd + self.usd, self.successes)


def of_cell(cell: Cell) -> Expected:
    """A cell's own sums."""
    scored = cell.score * cell.served if cell.score is not None else NOTHING
    return Expected(
        Fraction(cell.eligible),
        Fraction(cell.successes),
        Fraction(cell.served),
        Fraction(cell.violations),
        cell.teu,
        cell.usd,
        scored,
        Fraction(0 if cell.score is not None else cell.served),
        {bound: (Fraction(one.n), Fraction(one.good)) for bound, one in cell.latency.items()},
    )


def of_cells(cells: Iterable[Cell]) -> Expected:
    """The sums of many cells."""
    whole = Expected()
    for cell in cells:
        whole = whole.plus(of_cell(cell))
    return whole


def per_request(cells: Iterable[Cell]) -> Expected | None:
    """What one request of some cells comes to; None where too few were recorded."""
    whole = of_cells(cells)
    if whole.eligible < LEAST_RECORDED:
        return None
    return Expected().plus(whole, 1 / whole.eligible)
