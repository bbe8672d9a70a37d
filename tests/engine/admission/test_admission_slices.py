"""Several edges in front of one fleet keep together to the limits of the whole."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchid.engine.admission.budgets import Caps
from orchid.engine.admission.policy import CompiledPolicy, compile_policy
from orchid.engine.admission.slices import WHOLE, grouped, slice_of
from orchid.engine.document.load import load_document
from tests.small_policy import small_document, small_policy

weights = st.dictionaries(
    st.text("abcdef123", min_size=1, max_size=6),
    st.floats(0.0, 1e6, allow_nan=False),
    min_size=1,
    max_size=40,
).filter(lambda found: sum(found.values()) > 0)


@given(weights, st.integers(0, 10**60))
def test_whole_things_are_given_out_to_the_last_one(fleet: dict[str, float], limit: int) -> None:
    assert sum(slice_of(fleet, edge).whole(limit) for edge in fleet) == limit


@given(weights, st.integers(0, 10**9))
def test_no_edge_is_off_its_exact_share_by_one_or_more(fleet: dict[str, float], limit: int) -> None:
    for edge in fleet:
        mine = slice_of(fleet, edge)
        assert abs(mine.whole(limit) - mine.part * limit) < 1


@given(weights, st.decimals(0, 10**9, places=6))
def test_money_is_never_given_out_twice(fleet: dict[str, float], limit: Decimal) -> None:
    given_out = sum(slice_of(fleet, edge).amount(limit) for edge in fleet)
    assert limit - Decimal(len(fleet)) * Decimal("1e-18") <= given_out <= limit


@given(weights)
def test_edges_that_share_a_key_have_the_slices_they_had(fleet: dict[str, float]) -> None:
    shared = grouped(fleet)
    assert len(shared) == len(set(fleet.values()))
    assert all(slice_of(shared, edge) == slice_of(fleet, edge) for edge in [*fleet, "late"])


def test_without_weights_one_edge_has_the_whole() -> None:
    assert slice_of({}, "e1") == WHOLE
    assert slice_of({"e1": 3.0}, "e1") == WHOLE


def test_an_edge_that_was_not_named_takes_what_the_least_of_the_others_has() -> None:
    fleet = {"e1": 3.0, "e2": 1.0}
    assert slice_of(fleet, "late").whole(100) == slice_of(fleet, "e2").whole(100) == 25


def test_an_edge_may_always_use_a_replica() -> None:
    assert slice_of({f"e{n}": 1.0 for n in range(10)}, "e0").places(4) == 1


DOCUMENT = small_document(
    budgets=[
        {"tenant": "acme", "window": "10s", "max_teu": 1000, "max_usd": "0.10"},
        {"tenant": "*", "window": "1m", "max_output_tokens": 900},
    ],
    admission__shares={"tenant/acme": {"guaranteed": 0.5, "ceiling": 0.8}},
    admission__live_tokens={
        "per_device": 100_001,
        "per_tenant": 50_001,
        "per_request": 8_000,
        "per_route": {"full": 30_001},
    },
    models__full={**small_document()["models"]["full"], "max_sequences": 9},
)
FLEET = {"e1": 1.0, "e2": 1.0, "e3": 2.0}


def policies() -> list[CompiledPolicy]:
    document = load_document(DOCUMENT).document
    return [compile_policy(document, part=slice_of(FLEET, edge)) for edge in FLEET]


def of_acme(policy: CompiledPolicy) -> Caps:
    return next(caps for caps in policy.caps["acme"] if caps.window_ms == 10_000)


def test_every_limit_of_the_fleet_is_one_when_the_slices_are_put_together() -> None:
    whole, parts = compile_policy(load_document(DOCUMENT).document), policies()
    for name in ("knee", "live_tokens_per_device", "live_tokens_of_tenant", "max_queued_teu"):
        assert sum(getattr(part, name) for part in parts) == getattr(whole, name), name
    for name in ("max_sequences", "max_live_tokens"):
        sliced = [getattr(part.routes["full"], name) for part in parts]
        assert sum(sliced) == getattr(whole.routes["full"], name), name
    for cap in ("teu", "usd"):
        sliced = [getattr(of_acme(part), cap) for part in parts]
        assert sum(sliced) == getattr(of_acme(whole), cap), cap
    assert sum(part.general_caps[0].output_tokens or 0 for part in parts) == 900
    for index, node in enumerate(whole.shares.nodes):
        assert sum(part.shares.nodes[index].rate for part in parts) == pytest.approx(node.rate)
        assert sum(part.shares.nodes[index].burst for part in parts) == pytest.approx(node.burst)


def test_what_bounds_one_request_is_whole_at_every_edge() -> None:
    assert {part.live_tokens_of_request for part in policies()} == {8_000}


def test_the_safe_floor_is_that_of_a_replica_which_nothing_is_known_of() -> None:
    floor = small_policy(admission__signals={"floor_per_replica": 2}).at_safe_floor()
    assert (floor.knee, floor.limit.ceiling) == (2, 2)
    assert small_policy().at_safe_floor().knee == 1
    adaptive = {"mode": "queue_wait_aimd", "per_replica": 8, "floor": 3}
    assert small_policy(admission__concurrency=adaptive).at_safe_floor().knee == 3
