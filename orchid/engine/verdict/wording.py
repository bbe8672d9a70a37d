"""How figures of a verdict are written. A figure that differs from its bound never looks equal."""

import math
from decimal import ROUND_HALF_EVEN, Decimal

from orchid.engine.document.values import decimal_text

#: What the name of a share's gate ends in where it is held to the incumbent's.
AGAINST_INCUMBENT = "_against_incumbent"
_MOST_DECIMALS = 18


def share_text(share: float) -> str:
    """A share as percent, such as `98.4 %`."""
    return f"{share * 100:.4g} %"


def ms_text(ms: float | None) -> str:
    """A duration such as `1,640 ms`; what never ended has no number."""
    if ms is None:
        return "unknown"
    return "not completed" if math.isinf(ms) else f"{ms:,.6g} ms" if ms < 1000 else f"{ms:,.0f} ms"


def usd_text(usd: Decimal, beside: Decimal | None = None) -> str:
    """Dollars with the fewest decimals, at least eight where needed, that tell it from `beside`."""
    for places in range(8, _MOST_DECIMALS + 1):
        rounded = usd.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)
        if beside is None or (rounded == beside) == (usd == beside):
            return decimal_text(rounded)
    return decimal_text(usd)


def e_text(log_e: float) -> str:
    """An e-value from its logarithm, also where the number itself would overflow."""
    if log_e > 690:
        return f"1e{log_e / math.log(10):.0f}"
    value = math.exp(log_e)
    return f"{value:.2f}" if 0.01 <= value < 100 else f"{value:.1e}"


def seconds_for(requests: int | None, rate_per_s: float | None) -> float | None:
    """How long so many requests take at the present rate; None where either is unknown."""
    if requests is None or rate_per_s is None or rate_per_s <= 0:
        return None
    return requests / rate_per_s


def needs_text(requests: int, rate_per_s: float | None) -> str:
    """`; needs about 240 more requests, about 2 min at the present rate`."""
    said = f"; needs about {requests:,} more request{'' if requests == 1 else 's'}"
    if rate_per_s is None:
        return said
    seconds = seconds_for(requests, rate_per_s)
    if seconds is None:
        return f"{said}; none come at present"
    return f"{said}, about {span_text(seconds)} at the present rate"


def span_text(seconds: float) -> str:
    """A duration for people in the coarsest unit that says it: `40 s`, `12 min`, `9 d`."""
    for unit, length in (("s", 1), ("min", 60), ("h", 3600)):
        if seconds < 100 * length:
            return f"{max(1.0, seconds / length):.2g} {unit}"
    return f"{seconds / 86400:,.3g} d"
