"""Whole decisions over one replica: every answer is the one that slow books foretell."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from orchid.engine.admission.decide import decide
from orchid.engine.admission.idle import idle_state
from orchid.engine.admission.request import AdmissionRequest
from tests.engine.admission.reference_model import (
    Limits,
    SlowBooks,
    SlowShares,
    tree_of,
)
from tests.small_policy import small_policy

LIFE_MS = 900
SHARES: dict[str, Any] = {
    "tenant_class/standard": {"guaranteed": 0.25, "ceiling": 0.5},
    "tenant_class/premium": {"guaranteed": 0.5, "children": {"tenant/acme": {"guaranteed": 0.5}}},
}
BUDGETS = (("acme", 1000, 4000), ("acme", 4000, 9000), ("other", 1000, 3000))
LIMITS = Limits(1500, 4000, 6000, 5, 700, BUDGETS)
POLICY = small_policy(
    admission__shares=SHARES,
    admission__max_queued_teu=LIMITS.queued_teu,
    admission__concurrency__per_replica=LIMITS.knee,
    admission__live_tokens={
        "per_device": LIMITS.of_pool,
        "per_tenant": LIMITS.per_tenant,
        "per_request": LIMITS.per_request,
    },
    budgets=[{"tenant": t, "window": f"{w}ms", "max_teu": m} for t, w, m in BUDGETS],
)
MOVES = st.lists(
    st.one_of(
        st.tuples(
            st.just("ask"),
            st.sampled_from(["acme", "other", "third"]),
            st.sampled_from(["standard", "premium"]),
            st.integers(1, 1600),
        ),
        st.tuples(st.just("settle"), st.integers(0, 40), st.integers(0, 1600)),
        st.tuples(st.just("cancel"), st.integers(0, 40)),
        st.tuples(st.just("pass"), st.integers(0, 700)),
        st.tuples(st.just("expire")),
    ),
    max_size=80,
)


@settings(max_examples=150, deadline=None)
@given(MOVES)
def test_every_answer_is_the_one_that_the_books_foretell(moves: list[tuple[Any, ...]]) -> None:
    books = SlowBooks(LIMITS, SlowShares(tree_of(SHARES, 1000)))
    state, now = idle_state(POLICY, slots=3), 1_000_000
    for number, (move, *given_) in enumerate(moves):
        if move == "pass":
            now += given_[0]
        elif move == "expire":
            expired = {held.attempt_id for held in state.expire(float(now))}
            assert expired == books.expire(now)
        elif move == "settle":
            ended = state.settle(f"a{given_[0]}", given_[1], float(now))
            assert (ended is not None) == books.end(f"a{given_[0]}", given_[1], now)
        elif move == "cancel":
            ended = state.cancel_undispatched(f"a{given_[0]}", float(now))
            assert (ended is not None) == books.end(f"a{given_[0]}", 0, now)
        else:
            _ask(books, state, f"a{number}", now, *given_)


def _ask(
    books: SlowBooks, state: Any, name: str, now: int, tenant: str, tenant_class: str, teu: int
) -> None:
    belongs = {"tenant_class": tenant_class, "tenant": tenant}
    request = AdmissionRequest(
        request_id=name,
        class_="form",  # has no fallback and no bound: one option, one reason
        arrived_ms=float(now),
        tenant=tenant,
        tenant_class=tenant_class,
        input_tokens=0,
        max_output_tokens=teu,
        deadline_ms=1e9,
    )
    decision = decide(request, state, POLICY, float(now))
    answer = str(decision.reason) if decision.offer is None else "admit"
    if decision.offer is not None and decision.offer.wait:
        answer = "wait"
    assert answer == books.answer(tenant, teu, belongs, now)
    if answer == "admit":
        state.reserve(name, decision, POLICY, float(now), float(now + LIFE_MS))
        books.reserve(name, tenant, teu, belongs, now, LIFE_MS)
