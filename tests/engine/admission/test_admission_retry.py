"""Retries stay a small share of first tries, whoever asks and however often."""

import math
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.admission.breaker import Breaker, BreakerRules
from orchid.engine.admission.retry import RetryLedger, RetryRules

RULES = RetryRules(budget=0.10, window_ms=10_000.0, attempts_per_request=4)


def test_a_retry_storm_reaches_upstream_a_tenth_more_often_and_no_more() -> None:
    ledger, upstream, refused = RetryLedger(), 0, 0
    for n in range(1000):
        ledger.note(1, 50.0, 500, RULES, 10.0 * n)
        upstream += 1
        for attempt in (2, 3, 4):
            if ledger.exhausted(attempt, 50.0, 500, RULES, 10.0 * n) is None:
                ledger.note(attempt, 50.0, 500, RULES, 10.0 * n)
                upstream += 1
            else:
                refused += 1
    assert upstream == 1100
    assert refused == 2900


def test_a_refusal_says_when_its_window_ends() -> None:
    ledger = RetryLedger()
    ledger.note(1, 50.0, 500, RULES, 10_500.0)
    assert ledger.exhausted(2, 50.0, 500, RULES, 12_000.0) == 8_000.0
    assert ledger.exhausted(2, 50.0, 500, RULES, 20_000.0) == 10_000.0


def test_a_request_with_no_attempt_left_has_no_reset() -> None:
    ledger = RetryLedger()
    for _ in range(1000):
        ledger.note(1, 50.0, 500, RULES, 0.0)
    assert ledger.exhausted(5, 50.0, 500, RULES, 0.0) == math.inf


def test_a_large_retry_is_refused_by_its_work_though_attempts_are_left() -> None:
    ledger = RetryLedger()
    for _ in range(20):
        ledger.note(1, 10.0, 100, RULES, 0.0)
    assert ledger.exhausted(2, 21.0, 100, RULES, 0.0) is not None
    assert ledger.exhausted(2, 20.0, 201, RULES, 0.0) is not None
    assert ledger.exhausted(2, 20.0, 200, RULES, 0.0) is None
    attempts_only = RetryRules(0.10, 10_000.0, 4, counted=(True, False, False))
    assert ledger.exhausted(2, 1e6, 10**6, attempts_only, 0.0) is None


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.floats(1, 100), st.integers(1, 9000), st.floats(0, 900)),
        max_size=200,
    ),
    st.sampled_from([0.0, 0.1, 0.5]),
)
def test_no_order_of_asking_gets_retries_over_their_share_of_a_window(
    asked: list[tuple[int, float, int, float]], budget: float
) -> None:
    rules, ledger, now = RetryRules(budget, 10_000.0, 4), RetryLedger(), 0.0
    used: dict[int, list[list[float]]] = {}
    for attempt, teu, live, passed_ms in asked:
        now += passed_ms
        if ledger.exhausted(attempt, teu, live, rules, now) is not None:
            continue
        ledger.note(attempt, teu, live, rules, now)
        sums = used.setdefault(int(now // 10_000.0), [[0.0] * 3, [0.0] * 3])
        kind = sums[0 if attempt == 1 else 1]
        kind[:] = [kind[0] + 1, kind[1] + teu, kind[2] + live]
    for first, retried in used.values():
        for of_first, of_retries in zip(first, retried, strict=True):
            assert of_retries <= budget * of_first + 1e-6 * (of_first + 1.0)


@dataclass
class Client:
    """Asks up to four times, a second apart, until it is served or told not to come back."""

    arrives_ms: float
    attempt: int = 1
    served_ms: float | None = None


@dataclass
class Upstream:
    """Fails all until it is healed; 100 first tries a second ask for it through the mechanisms."""

    healed_ms: float
    ledger: RetryLedger = field(default_factory=RetryLedger)
    breaker: Breaker = field(default_factory=lambda: Breaker(BreakerRules(5, 10_000.0, 5_000.0, 1)))
    attempts: list[float] = field(default_factory=list)

    def asked(self, client: Client, name: str, now: float) -> bool:
        """One ask; whether the client may come again."""
        if self.breaker.is_open(now):
            return True
        if self.ledger.exhausted(client.attempt, 50.0, 500, RULES, now) is not None:
            return False
        self.ledger.note(client.attempt, 50.0, 500, RULES, now)
        self.breaker.sent(name, now)
        self.attempts.append(now)
        ok = now >= self.healed_ms
        self.breaker.note(ok, name, now)
        client.served_ms = now if ok else None
        return not ok


def storm(healed_ms: float, until_ms: float) -> tuple[Upstream, list[Client]]:
    upstream = Upstream(healed_ms)
    clients = [Client(10.0 * n) for n in range(int(until_ms / 10))]
    due = sorted((client.arrives_ms, n) for n, client in enumerate(clients))
    while due:
        now, n = due.pop(0)
        again = upstream.asked(clients[n], f"r{n}-{clients[n].attempt}", now)
        clients[n].attempt += 1
        if again and clients[n].attempt <= 4:
            due.append((now + 1000.0, n))
            due.sort()
    return upstream, clients


def test_the_breaker_opens_on_the_storm_and_spares_the_upstream() -> None:
    upstream, _ = storm(healed_ms=1e9, until_ms=10_000.0)
    assert len(upstream.attempts) <= 10
    assert upstream.breaker.opened_ms is not None


def test_after_the_upstream_heals_success_is_back_within_one_open_time() -> None:
    """Stated: 5 s, the breaker's open time. From then on every first try is served at once."""
    healed_ms = 12_000.0
    _, clients = storm(healed_ms, until_ms=30_000.0)
    late = [c for c in clients if c.arrives_ms >= healed_ms + 5_000.0]
    assert len(late) == 1300
    assert all(client.served_ms == client.arrives_ms for client in late)
