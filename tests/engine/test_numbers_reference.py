"""The worked figures of the reference product, to the last digit that is stated."""

from decimal import Decimal

import pytest

from orchid.engine.capacity import (
    candidate_overlap,
    equal_price_share,
    examine,
    group_loss,
    safe_teu_per_s,
    spike,
    steady,
)
from orchid.engine.document.model import PolicyDocument
from orchid.engine.economics import (
    attainment,
    card_usd,
    cost_per_success_usd,
    device_usd_per_h,
    exceeds,
    hourly_ledger_usd,
    ledger_usd_between,
    reserve_usd,
    steady_cost_per_success_usd,
    successes_per_h,
)
from orchid.engine.headroom import device_teu_per_s
from orchid.engine.pricing import demand_by_class, offered_requests_per_s, offered_teu_per_s
from orchid.engine.scenario import Scenario

SELECTED_PER_S = Decimal("319.8")


@pytest.mark.parametrize(
    ("name", "model", "tokens", "cap", "arrivals", "each", "per_s"),
    [
        ("classification", "compact", 256, 16, 220, 36, 7_920),
        ("short_assistant", "full", 900, 120, 90, 345, 31_050),
        ("long_assistant", "full", 6_000, 500, 12, 2_000, 24_000),
        ("document_generation", "premium", 12_000, 900, 3, 7_020, 21_060),
    ],
)
def test_each_class_is_priced_in_token_equivalents(
    reference: PolicyDocument,
    name: str,
    model: str,
    tokens: int,
    cap: int,
    arrivals: int,
    each: int,
    per_s: int,
) -> None:
    traffic, demand = reference.classes[name], demand_by_class(reference)[name]
    assert (traffic.model, traffic.input_tokens, traffic.max_output_tokens) == (model, tokens, cap)
    assert traffic.arrivals_per_s == arrivals
    assert demand.teu_per_request == each
    assert demand.teu_per_s == per_s


def test_the_factors_are_the_declared_ones(reference: PolicyDocument) -> None:
    factors = {"compact": Decimal("0.45"), "full": Decimal("1"), "premium": Decimal("1.8")}
    assert reference.demand.model_factor == factors
    assert reference.demand.input_weight == Decimal("0.25")


def test_325_requests_a_second_are_84030_teu(reference: PolicyDocument) -> None:
    assert offered_requests_per_s(reference) == 325
    assert offered_teu_per_s(reference) == 84_030


@pytest.mark.parametrize(
    ("name", "of_requests", "of_teu"),
    [("classification", "67.7", "9.4"), ("document_generation", "0.92", "25.1")],
)
def test_many_requests_can_be_little_work(
    reference: PolicyDocument, name: str, of_requests: str, of_teu: str
) -> None:
    demand = demand_by_class(reference)[name]
    assert round(demand.share_of_requests * 100, _places(of_requests)) == Decimal(of_requests)
    assert round(demand.share_of_teu * 100, _places(of_teu)) == Decimal(of_teu)


def _places(text: str) -> int:
    return len(text.split(".")[1])


def test_the_fleet_carries_98000_with_14_3_percent_headroom(reference: PolicyDocument) -> None:
    fleet, load = reference.fleet, steady(reference)
    assert (fleet.devices, fleet.safe_factor) == (28, Decimal("0.70"))
    assert fleet.raw_teu_per_s == 5000
    assert device_teu_per_s(fleet) == 3_500
    assert safe_teu_per_s(fleet) == load.capacity_teu_per_s == 98_000
    assert load.load_share is not None
    assert load.headroom is not None
    assert round(load.load_share * 100, 1) == Decimal("85.7")
    assert round(load.headroom * 100, 1) == Decimal("14.3")
    assert round(load.headroom * 100, 3) == Decimal("14.255")


def test_loss_of_a_group_leaves_a_deficit_of_30(reference: PolicyDocument) -> None:
    load = group_loss(reference)
    assert load.capacity_teu_per_s == 24 * 3_500 == 84_000
    assert load.deficit_teu_per_s == 30
    assert not load.fits


def test_a_spike_of_1_4_is_over_the_fleet(reference: PolicyDocument) -> None:
    load = spike(reference)
    assert load.demand_teu_per_s == 117_642
    assert not load.fits


def test_the_launch_is_infeasible_before_any_loss(reference: PolicyDocument) -> None:
    rise = {"short_assistant": Decimal("1.6")}
    launch = examine(reference, Scenario(factors=rise))
    short = launch.classes["short_assistant"]
    assert [short.teu_per_s_before, short.teu_per_s] == [31_050, 49_680]
    assert short.added_teu_per_s == 18_630
    assert launch.before.demand_teu_per_s == 84_030
    assert launch.load.demand_teu_per_s == 102_660
    assert launch.load.capacity_teu_per_s == 98_000
    assert not launch.fits
    with_loss = examine(reference, Scenario(factors=rise, lost_groups=1))
    assert with_loss.load.capacity_teu_per_s == 84_000
    assert with_loss.load.deficit_teu_per_s == 18_660


def test_a_candidate_on_four_devices_costs_what_a_lost_group_does(
    reference: PolicyDocument,
) -> None:
    lent = examine(reference, Scenario(lent_devices=4)).load
    assert lent == candidate_overlap(reference) == group_loss(reference)


def test_equal_pricing_gives_every_request_0_31_percent(reference: PolicyDocument) -> None:
    share = equal_price_share(reference)
    assert share == Decimal(1) / 325
    assert round(share * 100, 2) == Decimal("0.31")


def test_the_hourly_ledger_is_174_dollars(reference: PolicyDocument) -> None:
    assert device_usd_per_h(reference) == Decimal("134.40")
    assert reference.fleet.overhead_usd_per_h == Decimal("39.60")
    assert hourly_ledger_usd(reference) == Decimal("174.00")
    assert ledger_usd_between(reference, Decimal(900)) == Decimal("43.5")


def test_the_selected_policy_costs_0_000151136_a_success(reference: PolicyDocument) -> None:
    cost = steady_cost_per_success_usd(reference, SELECTED_PER_S)
    assert cost is not None
    assert successes_per_h(SELECTED_PER_S) == 1_151_280
    assert cost == cost_per_success_usd(Decimal("174.00"), 1_151_280)
    assert round(cost, 9) == Decimal("0.000151136")
    assert card_usd(cost) == Decimal("0.00015113")


def test_the_reserve_to_the_cost_gate(reference: PolicyDocument) -> None:
    bound = reference.gates.cost_per_success_usd.max
    cost = steady_cost_per_success_usd(reference, SELECTED_PER_S)
    assert cost is not None
    assert bound == Decimal("0.00016")
    assert reserve_usd(card_usd(cost), bound) == Decimal("0.00000887")
    assert round(reserve_usd(cost, bound), 12) == Decimal("0.000008863873")


def test_attainment_of_the_selected_policy(reference: PolicyDocument) -> None:
    share = attainment(SELECTED_PER_S, offered_requests_per_s(reference))
    assert share is not None
    assert round(share * 100, 1) == Decimal("98.4")
    assert attainment(Decimal(0), Decimal(0)) is None


def test_a_bill_17_percent_over_the_approved_price(reference: PolicyDocument) -> None:
    assert reference.gates.cost_per_success_usd.max * Decimal("1.17") == Decimal("0.0001872")


def test_the_cost_bound_itself_is_within() -> None:
    bound = Decimal("0.00016")
    assert not exceeds(Decimal("0.80"), 5_000, bound)
    assert exceeds(Decimal("0.800001"), 5_000, bound)
    assert exceeds(Decimal("0.80"), 0, bound)
    assert cost_per_success_usd(Decimal("0.80"), 0) is None
