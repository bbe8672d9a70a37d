"""A circuit breaker of one replica: closed, open after failures, half-open with a few probes.

It holds ids of attempts and never bare counts, so a verdict that comes twice, or of an attempt that
nobody sent, can't move it. Opening takes as many failures in the window as the document says, and
at most as many successes since the first of them: a busy replica with a rare failure stays in.
"""

from typing import Literal

import msgspec

from orchid.engine.document.model import PolicyDocument

State = Literal["closed", "open", "half_open"]


class BreakerRules(msgspec.Struct, frozen=True, gc=False):
    """The bounds of a document's `admission.breaker`."""

    failures: int
    window_ms: float
    open_ms: float
    probes: int


def breaker_rules(document: PolicyDocument) -> BreakerRules:
    declared = document.admission.breaker
    return BreakerRules(
        declared.failures, declared.window_s * 1000.0, declared.open_s * 1000.0, declared.probes
    )


class Failure(msgspec.Struct, frozen=True, gc=False):
    """A failed attempt: when it failed, and how many had succeeded until then."""

    at_ms: float
    successes: int


class Breaker(msgspec.Struct):
    """One replica's breaker. At most `failures` ids are remembered, and `probes` are out."""

    rules: BreakerRules
    failed: dict[str, Failure] = {}
    probing: set[str] = set()
    passed: set[str] = set()  # probes that succeeded since it was half-open
    opened_ms: float | None = None
    successes: int = 0

    def state(self, now_ms: float) -> State:
        if self.opened_ms is None:
            return "closed"
        # It opened later than now where the clock was put back: a probe will tell.
        return "open" if 0.0 <= now_ms - self.opened_ms < self.rules.open_ms else "half_open"

    def is_open(self, now_ms: float) -> bool:
        """Whether it lets nobody through now: open, or half-open with all its probes out."""
        return self.opened_ms is not None and not self.may_probe(now_ms)

    def may_probe(self, now_ms: float) -> bool:
        """Whether it is half-open with room for one more probe."""
        tried = len(self.probing) + len(self.passed)
        return self.state(now_ms) == "half_open" and tried < self.rules.probes

    def sent(self, attempt_id: str, now_ms: float) -> None:
        """An attempt goes to the replica; while half-open it is a probe."""
        if self.opened_ms is not None and self.may_probe(now_ms):
            self.probing.add(attempt_id)

    def left(self, attempt_id: str) -> None:
        """An attempt ended without a verdict on the replica; a probe gives its place back."""
        self.probing.discard(attempt_id)

    def note(self, ok: bool, attempt_id: str, now_ms: float) -> None:
        """A verdict on the replica. Once it has opened, those of its probes alone count."""
        if self.opened_ms is not None:
            self._note_probe(ok, attempt_id, now_ms)
        elif ok:
            self.successes += 1
        elif attempt_id not in self.failed:
            self._note_failure(attempt_id, now_ms)

    def _note_probe(self, ok: bool, attempt_id: str, now_ms: float) -> None:
        if attempt_id not in self.probing:
            return
        self.probing.discard(attempt_id)
        if not ok:
            self._open(now_ms)
            return
        self.passed.add(attempt_id)
        if len(self.passed) >= self.rules.probes:
            self._forget()
            self.opened_ms = None

    def _note_failure(self, attempt_id: str, now_ms: float) -> None:
        self.failed[attempt_id] = Failure(now_ms, self.successes)
        while len(self.failed) > self.rules.failures or self._is_past(now_ms):
            del self.failed[next(iter(self.failed))]
        first = next(iter(self.failed.values()))
        enough = len(self.failed) == self.rules.failures
        if enough and self.successes - first.successes <= self.rules.failures:
            self._open(now_ms)

    def _is_past(self, now_ms: float) -> bool:
        """Whether the oldest failure is out of the window."""
        return now_ms - next(iter(self.failed.values())).at_ms > self.rules.window_ms

    def _open(self, now_ms: float) -> None:
        self._forget()
        self.opened_ms = now_ms

    def _forget(self) -> None:
        self.failed.clear()
        self.probing.clear()
        self.passed.clear()
