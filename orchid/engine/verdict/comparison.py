"""A canary against the incumbent: a difference of shares, stratum by stratum, in the same minutes.

Each arm's own mix is its own; the difference is therefore taken within strata and combined with the
incumbent's weights,

    D = sum of w_k (p_k - q_k),    w_k = the incumbent's part of stratum k,

so that a canary that got easier requests does not look better. Its variance V adds up the arms'
binomial variances, each inflated by the arm's design effect; a share of all or none is drawn half a
request inwards, so that no stratum claims to be certain. With z = D + limit, tau = 1/V and a
normal mixture of scale rho,

    e = 2 Phi(rho tau z / sqrt(1 + rho^2 tau)) exp(rho^2 tau^2 z^2 / (2 (1 + rho^2 tau)))
        / sqrt(1 + rho^2 tau)

against "the loss is larger than the limit" (e_pass), and with -z against its opposite (e_fail):
asymptotic confidence sequences (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas 2024, Ann. Statist.
52), valid at any look once the sample is no longer small.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import special

from orchid.engine.verdict.result import Levels, Result, Verdict
from orchid.engine.verdict.wording import e_text, share_text

#: The difference at which the evidence is the most sensitive; any value is valid.
SCALE = 0.02
#: Records of each arm below which a stratum is not compared.
LEAST = 20
#: The incumbent's requests that may lie in strata that are not compared, beside a pass.
MOST_APART = 0.05
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Arm:
    """`within` of `total` requests are good, counted in one stratum of one cohort."""

    within: int
    total: int


@dataclass(frozen=True, slots=True)
class Stratum:
    """One stratum as both cohorts served it in the same minutes."""

    name: str
    candidate: Arm
    incumbent: Arm

    @property
    def is_compared(self) -> bool:
        """Whether both arms have enough to say anything."""
        return min(self.candidate.total, self.incumbent.total) >= LEAST


@dataclass(frozen=True, slots=True)
class Effects:
    """The design effects of the two arms."""

    candidate: float = 1.0
    incumbent: float = 1.0


@dataclass(frozen=True, slots=True)
class Difference:
    """Points that the candidate gains over the incumbent at the incumbent's mix.

    `apart` names strata that are not compared, `apart_share` is their part of the incumbent.
    """

    points: float
    variance: float
    candidate: int
    incumbent: int
    strata: int
    apart: tuple[str, ...]
    apart_share: float

    def interval(self, alpha: float) -> tuple[float, float]:
        """What the data don't refute at alpha, at any look."""
        grown = 1 + SCALE**2 / self.variance
        square = self.variance * grown / (grown - 1) * math.log(grown / alpha**2)
        reach = math.sqrt(square)
        return max(-1.0, self.points - reach), min(1.0, self.points + reach)

    def log_e(self, above: float) -> float:
        """Log evidence that the difference is larger than `above`."""
        return _log_one_sided(self.points - above, self.variance)

    def log_e_below(self, below: float) -> float:
        """Log evidence that the difference is smaller than `below`."""
        return _log_one_sided(below - self.points, self.variance)


def difference(strata: Sequence[Stratum], effects: Effects) -> Difference | None:
    """None while no stratum has enough of both arms."""
    compared = [one for one in strata if one.is_compared]
    if not compared:
        return None
    everything = sum(one.incumbent.total for one in strata)
    weights = [one.incumbent.total for one in compared]
    total = sum(weights)
    points = sum(w / total * _gain(one) for w, one in zip(weights, compared, strict=True))
    variance = sum(
        (w / total) ** 2
        * (
            _variance(one.candidate, effects.candidate)
            + _variance(one.incumbent, effects.incumbent)
        )
        for w, one in zip(weights, compared, strict=True)
    )
    return Difference(
        points,
        variance,
        sum(one.candidate.total for one in compared),
        total,
        len(compared),
        tuple(one.name for one in strata if not one.is_compared),
        1 - total / everything,
    )


def judge(
    metric: str,
    found: Difference | None,
    limit: float | None,
    minimum: int,
    levels: Levels,
) -> Result:
    """The canary loses at most `limit` against the incumbent; without a limit nothing can fail."""
    if found is None:
        return _without(metric, limit, minimum)
    low, high = found.interval(levels.alpha_pass)
    good = found.log_e(-(limit or 0.0))
    bad = found.log_e_below(-(limit or 0.0))
    verdict = _decide(found, limit, (good, bad), minimum, levels)
    return Result(
        metric=metric,
        segment="",
        verdict=verdict,
        bound=_bound(limit),
        message=_words(verdict, found, limit, (low, high), (good, bad)),
        value=f"{found.points:.6f}",
        margin=None if limit is None else f"{found.points + limit:.6f}",
        low=low,
        high=high,
        n=found.candidate,
        n_effective=float(found.candidate),
        minimum=minimum,
        log_e_pass=None if limit is None else good,
        log_e_fail=None if limit is None else bad,
    )


def _gain(one: Stratum) -> float:
    mine, other = one.candidate, one.incumbent
    return mine.within / mine.total - other.within / other.total


def _variance(arm: Arm, effect: float) -> float:
    share = (arm.within + 0.5) / (arm.total + 1)
    return share * (1 - share) * max(1.0, effect) / arm.total


def _log_one_sided(z: float, variance: float) -> float:
    grown = 1 + SCALE**2 / variance
    reach = SCALE * z / variance / math.sqrt(grown)
    log_side = math.log(2) + float(special.log_ndtr(reach))
    return log_side + reach**2 / 2 - math.log(grown) / 2


def _decide(
    found: Difference,
    limit: float | None,
    logs: tuple[float, float],
    minimum: int,
    levels: Levels,
) -> Verdict:
    if limit is None or min(found.candidate, found.incumbent) < minimum:
        return Verdict.INCONCLUSIVE
    if logs[1] >= -math.log(levels.alpha_each_fail):
        return Verdict.FAIL
    passes = logs[0] >= -math.log(levels.alpha_pass) and found.apart_share <= MOST_APART
    return Verdict.PASS if passes else Verdict.INCONCLUSIVE


def _words(
    verdict: Verdict,
    found: Difference,
    limit: float | None,
    between: tuple[float, float],
    logs: tuple[float, float],
) -> str:
    due = "shown, it gates nothing"
    if limit is not None:
        evidence = logs[1] if verdict is Verdict.FAIL else logs[0]
        due = f"a loss of {_points(limit)} is allowed (e = {e_text(evidence)})"
    said = (
        f"{verdict}: {found.points * 100:+.2f} points against the incumbent at its mix of "
        f"{found.strata:,} strata, between {between[0] * 100:+.2f} and {between[1] * 100:+.2f}; "
        f"{due}; {found.candidate:,} requests beside {found.incumbent:,} in the same minutes"
    )
    return said + _apart(found)


def _apart(found: Difference) -> str:
    if not found.apart:
        return ""
    named = ", ".join(found.apart[:_NAMED])
    more = f" and {len(found.apart) - _NAMED:,} more" if len(found.apart) > _NAMED else ""
    return (
        f"; not compared, fewer than {LEAST} in an arm: {named}{more} "
        f"({share_text(found.apart_share)} of the incumbent)"
    )


def _without(metric: str, limit: float | None, minimum: int) -> Result:
    message = f"no data: no stratum has {LEAST} requests of both cohorts"
    return Result(metric, "", Verdict.NO_DATA, _bound(limit), message, minimum=minimum)


def _bound(limit: float | None) -> str:
    return "" if limit is None else f"{-limit:g}"


def _points(share: float) -> str:
    return f"{share * 100:g} point{'' if share == 0.01 else 's'}"
