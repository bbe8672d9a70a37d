"""Windows made of a few cells, written as a diagnosis reads them."""

from collections.abc import Mapping
from fractions import Fraction

from orchid.engine.diagnosis.cells import Cell, Stratum
from orchid.engine.segments import dims_of

BOUND = "completion<=1500"


def window_cell(
    segment: str,
    route: str = "full",
    n: int = 1000,
    *,
    losses: Mapping[str, int] | None = None,
    late: int = 0,
    fallback: int | None = None,
    teu: int = 0,
    usd: str = "0",
    score: float | None = 0.9,
) -> Cell:
    """`n` requests, all served but for the losses; `late` of them outside the bound."""
    losses = {name: count for name, count in (losses or {}).items() if count}
    ended = Stratum(segment, route, n, losses)
    unserved = sum(
        c for name, c in losses.items() if name not in ("violation", "late or not valid")
    )
    served = n - unserved
    latency = Stratum(segment, route, n, {"over the bound": late} if late else {})
    return Cell(
        segment,
        dims_of(segment),
        route,
        n,
        ended.good,
        served,
        (n if route == "compact" else 0) if fallback is None else fallback,
        n - losses.get("rejected", 0),
        ended,
        losses.get("violation", 0),
        {BOUND: latency},
        Fraction(teu),
        Fraction(usd),
        None if score is None else Fraction(score),
    )
