"""Sample-ratio check: a canary split that is off makes its evidence invalid, not a result."""

import math
from dataclasses import dataclass

from orchid.engine.verdict import proportion
from orchid.engine.verdict.wording import e_text, share_text

ALPHA = 0.001


@dataclass(frozen=True, slots=True)
class Split:
    """Whether the units fell as the exposure says, with the counts in words."""

    holds: bool
    log_e: float
    message: str


def check(candidate: int, total: int, fraction: float, alpha: float = ALPHA) -> Split:
    """Compare `candidate` of `total` with the exposure; a mixture e-value, valid at any look."""
    due = f"{candidate:,} of {total:,} in the canary where about {total * fraction:,.0f} are due"
    if not 0 < fraction < 1:
        holds = candidate == (total if fraction >= 1 else 0)
        return Split(holds, 0.0 if holds else math.inf, due)
    log_e = float(proportion.log_e_differs(candidate, total, fraction))
    holds = log_e < math.log(1 / alpha)
    return Split(holds, log_e, f"{due} at {share_text(fraction)} (e = {e_text(log_e)})")
