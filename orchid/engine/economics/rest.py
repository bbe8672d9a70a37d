"""What some sums hold beyond others: the requests that carry no tenant."""

from collections.abc import Iterable

from orchid.engine.rollup import EXACT, Figure, Sums, merged_all


def without(whole: Iterable[Sums], parts: Iterable[Sums]) -> Sums | None:
    """Counters, figures, TEU and dollars of the whole that no part has; None where there are none.

    Histograms and bounds are left out, and so is the largest of a figure, which no difference
    tells.
    """
    all_of, some = merged_all(whole), merged_all(parts)
    rest = Sums(
        all_of.counters - some.counters,
        teu=EXACT.subtract(all_of.teu, some.teu),
        cost_usd=EXACT.subtract(all_of.cost_usd, some.cost_usd),
        records=all_of.records - some.records,
    )
    for name, figure in all_of.figures.items():
        known = some.figures.get(name, Figure())
        if figure.count > known.count:
            rest.figures[name] = Figure(figure.count - known.count, figure.total - known.total)
    return rest if rest.records > 0 else None
