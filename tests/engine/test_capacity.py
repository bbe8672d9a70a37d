"""What the fleet carries in a scenario, and what would close a deficit."""

from decimal import Decimal
from typing import Any

import pytest

from orchid.engine.capacity import (
    WhatIf,
    candidate_overlap,
    equal_price_share,
    examine,
    group_loss,
    trials,
)
from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.relief import Relief
from orchid.engine.scenario import Scenario
from tests.reference_document import changed

LAUNCH = {"short_assistant": Decimal("1.6")}


def policy(**sections: Any) -> PolicyDocument:
    return load_document(changed(**sections)).document


def reliefs(found: WhatIf) -> dict[str, Relief]:
    return {relief.what: relief for relief in (*found.allowed, *found.renegotiate)}


def test_a_load_that_fits_asks_for_nothing(reference: PolicyDocument) -> None:
    found = examine(reference, Scenario(factors={"classification": Decimal(2)}))
    assert found.fits
    assert found.load.spare_teu_per_s == 98_000 - 84_030 - 7_920
    assert (found.allowed, found.renegotiate) == ((), ())


def test_a_candidate_on_four_devices_costs_what_a_lost_group_does(
    reference: PolicyDocument,
) -> None:
    lent = examine(reference, Scenario(lent_devices=4)).load
    assert lent == candidate_overlap(reference) == group_loss(reference)


def test_the_launch_names_each_constraint_with_what_it_brings(reference: PolicyDocument) -> None:
    found = reliefs(examine(reference, Scenario(factors=LAUNCH, lost_groups=1)))
    assert {what: (relief.teu_per_s, relief.closes) for what, relief in found.items()} == {
        # 144 requests a second at 0.55 of 345 TEU each.
        "compact_fallback": (Decimal(27_324), True),
        # 144 x 24 tokens and 12 x 116 tokens, down to what overload caps.
        "cap_optional_output": (Decimal(4_848), False),
        # 144 x 56 tokens and 12 x 244 tokens, down to the smallest useful output.
        "cut_standard_caps": (Decimal(10_992), False),
        "defer_async": (Decimal(0), False),
        # 4 % of the 156 assistant requests, dearest first, and of the 220 classifications.
        "bounded_rejection": (Decimal("12796.8"), False),
        "exposure_off_peak": (Decimal(18_630), False),
        "fund_warm_capacity": (Decimal(21_000), True),
    }


def test_a_relief_says_its_arithmetic(reference: PolicyDocument) -> None:
    found = reliefs(examine(reference, Scenario(factors=LAUNCH, lost_groups=1)))
    assert "short_assistant 120 to 64 tokens +8,064" in found["cut_standard_caps"].text
    assert "6.24 long_assistant/s and 8.8 classification/s" in found["bounded_rejection"].text
    assert "6 more devices" in found["fund_warm_capacity"].text
    assert "$28.80 an hour" in found["fund_warm_capacity"].text


def test_a_relief_of_exactly_the_deficit_closes(reference: PolicyDocument) -> None:
    # 2 devices short of the demand: the rise of 7,000 TEU/s is what a later start would give back.
    rate = Decimal(220) * (1 + Decimal(20_970) / 7_920)
    found = examine(reference, Scenario(arrivals={"classification": rate}))
    assert round(found.load.deficit_teu_per_s, 9) == 7_000
    assert reliefs(found)["exposure_off_peak"].closes
    assert reliefs(found)["fund_warm_capacity"].teu_per_s == 7_000


def test_a_protected_class_gives_up_nothing() -> None:
    given = changed()
    given["classes"]["document_generation"]["min_output_tokens"] = 100
    document = load_document(given).document
    found = reliefs(examine(document, Scenario(lost_groups=3)))
    assert "document_generation" not in found["cut_standard_caps"].text
    assert "document_generation" not in found["bounded_rejection"].text
    given["fallback"] = given["fallback"][:1]
    found = reliefs(examine(load_document(given).document, Scenario(lost_groups=3)))
    assert "document_generation 900 to 100 tokens" in found["cut_standard_caps"].text


def test_work_that_may_wait_is_deferred_whole() -> None:
    given = changed()
    given["classes"]["long_assistant"]["interactive"] = False
    found = reliefs(examine(load_document(given).document, Scenario(lost_groups=2)))
    assert found["defer_async"].teu_per_s == 24_000
    assert found["defer_async"].closes


def test_an_attainment_of_one_rejects_nobody() -> None:
    given = changed()
    given["gates"]["attainment"]["min"] = 1.0
    found = reliefs(examine(load_document(given).document, Scenario(lost_groups=1)))
    assert found["bounded_rejection"].teu_per_s == 0
    assert "leaves nothing to reject" in found["bounded_rejection"].text


def test_a_candidates_devices_come_back_off_peak(reference: PolicyDocument) -> None:
    found = reliefs(examine(reference, Scenario(lost_groups=1, lent_devices=4)))
    assert found["exposure_off_peak"].teu_per_s == 14_000
    assert not found["exposure_off_peak"].closes


def test_no_fallback_no_relief_by_fallback() -> None:
    found = reliefs(examine(policy(fallback=[]), Scenario(lost_groups=1)))
    assert found["compact_fallback"].teu_per_s == 0


def test_outputs_are_capped_only_by_a_rung_that_says_so() -> None:
    found = reliefs(examine(policy(overload=["stop_shadow"]), Scenario(lost_groups=1)))
    assert found["cap_optional_output"].teu_per_s == 0
    assert found["cap_optional_output"].text == "no overload rung caps outputs"


def test_neither_a_spike_nor_a_loss_can_be_moved(reference: PolicyDocument) -> None:
    found = examine(reference, Scenario(spike=Decimal("1.4"), lost_groups=1))
    assert reliefs(found)["exposure_off_peak"].teu_per_s == 0


def test_a_last_group_that_is_smaller_takes_fewer_devices() -> None:
    document = policy(fleet={"devices": 26})
    assert examine(document, Scenario(lost=frozenset({7}))).load.capacity_teu_per_s == 24 * 3_500
    assert examine(document, Scenario(lost=frozenset({1}))).load.capacity_teu_per_s == 22 * 3_500
    assert group_loss(document).capacity_teu_per_s == 22 * 3_500


@pytest.mark.parametrize(
    "lost", [Scenario(lost_groups=99), Scenario(lost=frozenset({1, 2, 3, 4, 5, 6, 7}))]
)
def test_no_fleet_is_left_of_a_fleet_that_is_lost_whole(
    reference: PolicyDocument, lost: Scenario
) -> None:
    found = examine(reference, lost)
    assert found.load.capacity_teu_per_s == 0
    assert found.load.headroom is None


def test_a_route_whose_every_group_is_lost_is_named() -> None:
    document = policy(fleet={"placement": {"compact": [3], "full": [1, 2, 3, 4], "premium": [5]}})
    small = {"short_assistant": Decimal("0.1")}
    found = examine(document, Scenario(factors=small, lost=frozenset({3})))
    assert found.load.fits
    assert found.lost_routes == ("compact",)
    assert not found.fits
    assert examine(document, Scenario(lost=frozenset({2}))).lost_routes == ()
    assert examine(document, Scenario(lost_groups=7)).lost_routes == ("compact", "full", "premium")


def test_the_trials_are_what_ifs(reference: PolicyDocument) -> None:
    assert trials(reference) == {
        "steady": examine(reference, Scenario()).load,
        "spike": examine(reference, Scenario(spike=Decimal("1.4"))).load,
        "group_loss": examine(reference, Scenario(lost_groups=1)).load,
        "candidate_overlap": examine(reference, Scenario(lent_devices=4)).load,
    }


def test_nothing_that_arrives_has_no_equal_price() -> None:
    given = changed()
    for traffic in given["classes"].values():
        traffic["arrivals_per_s"] = 0
    assert equal_price_share(load_document(given).document) is None
