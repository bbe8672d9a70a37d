"""Cost per success: dollars of the ledger over successes, exact, on a closed window.

Failed, late, cancelled and idle work stays in the dollars. The comparison multiplies instead of
dividing, so that equality passes and nothing is rounded before it is compared.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from scipy import special

from orchid.engine.document.values import decimal_text
from orchid.engine.economics import cost_per_success_usd, exceeds
from orchid.engine.verdict.result import Result, Verdict
from orchid.engine.verdict.wording import usd_text

MINIMUM_BLOCKS = 8


@dataclass(frozen=True, slots=True)
class Spending:
    """What a window cost and brought.

    `usd` is the ledger plus priced external attempts, `unpriced` the requests with an attempt of
    unknown price, `blocks` successes by time block (for the interval only).
    """

    usd: Decimal
    successes: int
    requests: int
    unpriced: int
    minimum: int
    blocks: Sequence[int] = ()


def judge(segment: str, spending: Spending, bound: Decimal, fragile_margin: float = 0.0) -> Result:
    """Dollars over successes are at most `bound`; equality passes."""
    verdict = _decide(spending, bound)
    value = cost_per_success_usd(spending.usd, spending.successes)
    interval = _interval(spending)
    # With an attempt of unknown price the sum of the known ones is no cost.
    shown = None if spending.unpriced else value
    return Result(
        metric="cost_per_success_usd",
        segment=segment,
        verdict=verdict,
        bound=decimal_text(bound),
        message=_words(verdict, spending, bound, value),
        value=None if shown is None else usd_text(shown, bound),
        margin=None if shown is None else usd_text(bound - shown, Decimal(0)),
        low=None if interval is None or shown is None else interval[0],
        high=None if interval is None or shown is None else interval[1],
        n=spending.successes,
        n_effective=float(spending.successes),
        minimum=spending.minimum,
        needs=max(0, spending.minimum - spending.successes) or None,
        fragile=verdict is Verdict.PASS and _is_fragile(value, bound, interval, fragile_margin),
    )


def _decide(spending: Spending, bound: Decimal) -> Verdict:
    if spending.unpriced:
        return Verdict.INCONCLUSIVE
    if spending.requests == 0:
        return Verdict.NO_DATA
    if spending.successes > 0 and not exceeds(spending.usd, spending.successes, bound):
        enough = spending.successes >= spending.minimum
        return Verdict.PASS if enough else Verdict.INCONCLUSIVE
    # Few successes among enough requests are the harm itself, so requests are what a fail needs.
    return Verdict.FAIL if spending.requests >= spending.minimum else Verdict.INCONCLUSIVE


def _interval(spending: Spending) -> tuple[float, float] | None:
    """95 % interval of the cost from the spread of successes between blocks (Student's t)."""
    blocks = len(spending.blocks)
    total = sum(spending.blocks)
    if blocks < MINIMUM_BLOCKS or not total:
        return None
    mean = total / blocks
    variance = sum((count - mean) ** 2 for count in spending.blocks) / (blocks - 1)
    reach = float(special.stdtrit(blocks - 1, 0.975)) * math.sqrt(variance / blocks)
    usd = float(spending.usd) * mean / spending.successes if spending.successes else math.inf
    low = usd / (mean + reach)
    return low, usd / (mean - reach) if mean > reach else math.inf


def _is_fragile(
    value: Decimal | None,
    bound: Decimal,
    interval: tuple[float, float] | None,
    fragile_margin: float,
) -> bool:
    if value is None:
        return False
    narrow = bound - value < bound * Decimal(str(fragile_margin))
    return narrow or (interval is not None and interval[1] > float(bound))


def _words(verdict: Verdict, spending: Spending, bound: Decimal, value: Decimal | None) -> str:
    if spending.unpriced:
        return (
            f"inconclusive: {spending.unpriced:,} requests have an attempt of unknown price, "
            "so the cost is not known"
        )
    if verdict is Verdict.NO_DATA:
        spent = f"${decimal_text(spending.usd)} spent"
        return f"no data: no eligible request in the time that money was counted for ({spent})"
    spent = f"${usd_text(spending.usd)} for {spending.successes:,} successes"
    if value is None:
        return f"{verdict}: {spent}: money without success{_under(spending)}"
    sign = "<=" if value <= bound else ">"
    said = f"{verdict}: ${usd_text(value, bound)} {sign} ${decimal_text(bound)} a success; {spent}"
    return said + _under(spending)


def _under(spending: Spending) -> str:
    if spending.successes >= spending.minimum or spending.requests >= spending.minimum:
        return ""
    return f"; {spending.successes:,} of {spending.minimum:,} successes in the minimum sample"
