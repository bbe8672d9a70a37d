"""Zero-tolerance validation: seen violations fail at once and are never averaged.

Two counts stand beside each other and are never added: invalid responses that were delivered, and
violations that a suite found in the very manifests that served. Either fails alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from orchid.engine.segments import where_key
from orchid.engine.verdict.evidence import Item
from orchid.engine.verdict.result import Result, Verdict
from orchid.engine.verdict.wording import needs_text, share_text

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Delivered:
    """How many responses were delivered as complete, and how many of them were invalid.

    `found` are the pieces of evidence that found violations in what was served.
    """

    responses: int
    violations: int
    minimum: int
    found: tuple[Item, ...] = ()

    @property
    def found_most(self) -> int:
        """The most violations that one suite found; suites overlap, so they are not summed."""
        return max((item.violations for item in self.found), default=0)


def upper_limit(n: int, confidence: float = CONFIDENCE) -> float:
    """The largest violation rate that n clean responses leave open: 1 - (1-c)^(1/n), about 3/n."""
    return 1.0 if n <= 0 else float(1 - (1 - confidence) ** (1 / n))


def judge(segment: str, seen: Delivered, most: int) -> Result:
    """At most `most` invalid responses; without a minimum of clean ones nothing is promised."""
    verdict = _decide(seen, most)
    worst = max(seen.violations, seen.found_most)
    return Result(
        metric="violations",
        segment=segment,
        verdict=verdict,
        bound=str(most),
        message=_words(verdict, seen, most),
        value=str(worst) if seen.responses else None,
        margin=str(most - worst) if seen.responses else None,
        low=0.0 if seen.violations == 0 else None,
        high=upper_limit(seen.responses) if seen.violations == 0 else None,
        n=seen.responses,
        n_effective=float(seen.responses),
        minimum=seen.minimum,
        needs=_needs(verdict, seen),
    )


def _needs(verdict: Verdict, seen: Delivered) -> int | None:
    return seen.minimum - seen.responses if verdict is Verdict.INCONCLUSIVE else None


def _decide(seen: Delivered, most: int) -> Verdict:
    if max(seen.violations, seen.found_most) > most:
        return Verdict.FAIL
    if seen.responses == 0:
        return Verdict.NO_DATA
    return Verdict.PASS if seen.responses >= seen.minimum else Verdict.INCONCLUSIVE


def _words(verdict: Verdict, seen: Delivered, most: int) -> str:
    if verdict is Verdict.NO_DATA:
        return f"no data: 0 of {max(seen.minimum, 1):,} responses"
    said = f"{verdict}: {seen.violations:,} invalid of {seen.responses:,} delivered"
    if seen.found:
        said += f", {_found(seen.found)}"
    if verdict is Verdict.FAIL:
        return f"{said} where at most {most:,} may be"
    if seen.responses < seen.minimum:
        said += f"; {seen.responses:,} of {seen.minimum:,} in the minimum sample"
        said += needs_text(seen.minimum - seen.responses, None)
    limit = share_text(upper_limit(seen.responses))
    return f"{said}; a rate up to {limit} is not excluded" if seen.violations == 0 else said


def _found(items: Sequence[Item]) -> str:
    """`2 found by red-team 7 in compact (risk=high)`, the gravest three of them."""
    gravest = sorted(items, key=lambda item: (-item.violations, item.name, item.digest))
    said = [
        f"{item.violations:,} found by {item.name} in {item.route}"
        f" ({where_key(item.where) or 'everything'})"
        for item in gravest[:3]
    ]
    return ", ".join(said) + (f" and {len(items) - 3} more suites" if len(items) > 3 else "")
