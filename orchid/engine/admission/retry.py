"""What retries may cost: a share of the first tries of the same window, in every measure named.

Counted on what was admitted, so that upstream sees at most (1 + budget) times the first tries,
however often clients ask. Windows lie end to end from time zero; only the present one is kept.
"""

import math
from dataclasses import dataclass, field

import msgspec

from orchid.engine.document.limits import RETRY_MEASURES
from orchid.engine.document.model import PolicyDocument

# TEU and tokens of first tries are sums of floats: a retry that fits exactly must not fail by it.
ROUNDING = 1e-9


class RetryRules(msgspec.Struct, frozen=True, gc=False):
    """The bounds of `admission.retry`; `counted` says which of RETRY_MEASURES count."""

    budget: float
    window_ms: float
    attempts_per_request: int
    counted: tuple[bool, bool, bool] = (True, True, True)


def retry_rules(document: PolicyDocument) -> RetryRules:
    declared = document.admission.retry
    attempts, teu, live_tokens = (measure in declared.count for measure in RETRY_MEASURES)
    return RetryRules(
        budget=declared.budget,
        window_ms=float(declared.window_ms),
        attempts_per_request=declared.attempts_per_request,
        counted=(attempts, teu, live_tokens),
    )


@dataclass(slots=True)
class RetryLedger:
    """First tries and retries of one window, each in attempts, TEU and live tokens."""

    begins_ms: float = 0.0
    ends_ms: float = 0.0
    first: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    retried: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])

    def exhausted(
        self, attempt: int, teu: float, live_tokens: int, rules: RetryRules, now_ms: float
    ) -> float | None:
        """None when the attempt may go; else milliseconds until the window ends.

        Infinite when the request has used up its own attempts: no window gives it another.
        """
        if attempt <= 1:
            return None
        if attempt > rules.attempts_per_request:
            return math.inf
        asked = (1.0, teu, float(live_tokens))
        if self.begins_ms <= now_ms < self.ends_ms and self._fits(asked, rules):
            return None
        return (now_ms // rules.window_ms + 1) * rules.window_ms - now_ms

    def note(
        self, attempt: int, teu: float, live_tokens: int, rules: RetryRules, now_ms: float
    ) -> None:
        """Count an admitted attempt, at what it reserved."""
        if not self.begins_ms <= now_ms < self.ends_ms:
            self._turn(rules, now_ms)
        counts = self.first if attempt <= 1 else self.retried
        counts[0] += 1.0
        counts[1] += teu
        counts[2] += live_tokens

    def _turn(self, rules: RetryRules, now_ms: float) -> None:
        """Begin the window of now."""
        self.begins_ms = now_ms // rules.window_ms * rules.window_ms
        self.ends_ms = self.begins_ms + rules.window_ms
        self.first, self.retried = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]

    def _fits(self, asked: tuple[float, float, float], rules: RetryRules) -> bool:
        return all(
            used + more <= rules.budget * first + ROUNDING * (first + 1.0)
            for used, more, first, counts in zip(
                self.retried, asked, self.first, rules.counted, strict=True
            )
            if counts
        )
