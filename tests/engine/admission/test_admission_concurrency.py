"""A limit that follows queue wait recovers from anything, because its floor carries the demand."""

import inspect
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.admission.concurrency import Limiter, LimitRules, limit_rules, limiter_of
from orchid.engine.document.load import load_document
from tests.small_policy import small_document

AIMD = LimitRules("queue_wait_aimd", 24, 8, 32, target_wait_ms=100.0, decrease=0.9, increase=1.0)


def test_the_static_knee_never_moves() -> None:
    rules = limit_rules(load_document(small_document()).document)
    limiter = limiter_of(rules)
    for n in range(50):
        limiter.adapt(1e6 * (n % 2), rules, 1000.0 * n)
    assert limiter.limit == 4


def test_over_the_target_it_falls_by_its_share_and_within_it_it_rises_by_its_step() -> None:
    limiter = limiter_of(AIMD)
    limiter.adapt(101.0, AIMD, 0.0)
    assert limiter.limit == 21  # 24 x 0.9 = 21.6
    limiter.adapt(100.0, AIMD, 100.0)
    assert limiter.limit == 22  # 22.6


def test_it_moves_once_in_the_time_that_a_change_takes_to_show() -> None:
    limiter = limiter_of(AIMD)
    for n in range(10):
        limiter.adapt(500.0, AIMD, float(n))
    assert limiter.limit == 21


def test_it_is_told_of_queue_wait_and_of_nothing_else() -> None:
    assert list(inspect.signature(Limiter.adapt).parameters) == [
        "self",
        "queue_wait_ms",
        "rules",
        "now_ms",
    ]


def test_the_documents_bounds_are_taken() -> None:
    declared = {
        "mode": "queue_wait_aimd",
        "per_replica": 10,
        "floor": 6,
        "ceiling": 20,
        "target_wait": "80ms",
        "decrease": 0.5,
        "increase": 2,
    }
    document = load_document(small_document(admission__concurrency=declared)).document
    assert limit_rules(document) == LimitRules("queue_wait_aimd", 10, 6, 20, 80.0, 0.5, 2.0)


@dataclass
class Replica:
    """Works eight at once, 200 ms each; what the limit keeps out waits at the door."""

    limiter: Limiter
    backlog: float = 0.0
    now_ms: float = 0.0

    def second(self, arrivals: float) -> None:
        self.now_ms += 1000.0
        in_flight = min(float(self.limiter.limit), 0.2 * arrivals + self.backlog)
        served = 5.0 * min(in_flight, 8.0)
        self.backlog = max(0.0, self.backlog + arrivals - served)
        self.limiter.adapt(max(0.0, in_flight - 8.0) * 25.0, AIMD, self.now_ms)


@given(
    st.lists(st.floats(0, 1e5), max_size=60),
    st.lists(st.floats(0, 200), max_size=20),
    st.floats(1, 35),
)
def test_after_any_disturbance_the_backlog_goes_and_the_limit_is_back(
    false_waits: list[float], burst: list[float], demand: float
) -> None:
    """Baseline demand holds at most 7 in flight (35/s x 0.2 s); the floor is 8."""
    replica = Replica(limiter_of(AIMD))
    for wait_ms in false_waits:
        replica.now_ms += 1000.0
        replica.limiter.adapt(wait_ms, AIMD, replica.now_ms)
    for arrivals in burst:
        replica.second(arrivals)
        assert AIMD.floor <= replica.limiter.limit <= AIMD.ceiling
    drained_s = int(replica.backlog / (40.0 - demand)) + 2
    for _ in range(drained_s + AIMD.ceiling):
        replica.second(demand)
    assert replica.backlog < 1e-6
    assert replica.limiter.limit == AIMD.ceiling
