"""The latency budget of a feature: bounds term by term, and what still fits."""

from decimal import Decimal
from typing import Any

import pytest

from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from orchid.engine.feature_cost import Repeats, cost_table
from orchid.engine.latency_budget import Feature, latency_budget
from orchid.engine.timing import alone_ms
from tests.reference_document import changed

NO_QUEUE = Feature(queue_ms=0)


def with_timing(**timing: Any) -> PolicyDocument:
    given = changed()
    given["models"]["full"]["timing"] = timing
    return load_document(given).document


def test_the_terms_stand_in_the_order_of_the_way_and_bound_it(reference: PolicyDocument) -> None:
    feature = Feature(network_ms=20, retrieval_ms=80, queue_ms=100, cached_tokens=600)
    found = latency_budget(reference, "short_assistant", feature)
    assert found is not None
    assert [(term.name, term.ms) for term in found.terms] == [
        ("network", 20),
        ("retrieval", 80),
        ("queue", 100),
        ("fixed", 30),
        ("prefill", 7.5),
        ("decode", 240),
        ("reserve", 60),
    ]
    assert (found.route, found.total_ms, found.spare_ms, found.fits) == ("full", 537.5, 962.5, True)
    assert found.dominant.name == "decode"


def test_without_waiting_it_is_what_admission_predicts_alone(reference: PolicyDocument) -> None:
    for name, traffic in reference.classes.items():
        found = latency_budget(reference, name, NO_QUEUE)
        assert found is not None
        alone = alone_ms(reference, found.route, traffic.input_tokens, traffic.max_output_tokens)
        assert found.total_ms == pytest.approx(alone)


def test_the_queue_is_the_wait_that_the_document_aims_at(reference: PolicyDocument) -> None:
    found = latency_budget(reference, "short_assistant")
    assert found is not None
    assert found.terms[2].ms == reference.admission.concurrency.target_wait_ms


def test_a_prefix_cache_brings_the_first_token_forward() -> None:
    """9,000 tokens at 10,000 a second: 0.9 s, and 0.3 s with 6,000 of them cached."""
    document = with_timing(fixed_ms=0, prefill_tokens_per_s=10000, decode_ms_per_token=25)
    asked = Feature(queue_ms=0, input_tokens=9000, output_tokens=400)
    plain = latency_budget(document, "long_assistant", asked)
    cached = latency_budget(
        document,
        "long_assistant",
        Feature(queue_ms=0, input_tokens=9000, output_tokens=400, cached_tokens=6000),
    )
    assert plain is not None
    assert cached is not None
    assert (plain.first_token_ms, plain.completion_ms) == (900, 10_875)
    assert (cached.first_token_ms, cached.completion_ms) == (300, 10_275)
    assert not plain.fits


def test_the_largest_output_fits_and_one_more_does_not(reference: PolicyDocument) -> None:
    found = latency_budget(reference, "short_assistant", NO_QUEUE)
    assert found is not None
    cap = found.largest_output
    at = latency_budget(reference, "short_assistant", Feature(queue_ms=0, output_tokens=cap))
    over = latency_budget(reference, "short_assistant", Feature(queue_ms=0, output_tokens=cap + 1))
    assert at is not None
    assert over is not None
    assert at.fits
    assert not over.fits


def test_what_fits_in_time_is_held_to_the_context_window(reference: PolicyDocument) -> None:
    found = latency_budget(reference, "short_assistant", NO_QUEUE)
    assert found is not None
    assert found.largest_input == 16_384 - 120  # the time alone would allow 46,000


def test_a_deadline_that_is_gone_fits_no_output_at_all(reference: PolicyDocument) -> None:
    late = latency_budget(reference, "short_assistant", Feature(retrieval_ms=1_490))
    assert late is not None
    assert (late.fits, late.largest_output, late.largest_input) == (False, 0, 0)
    assert late.dominant.name == "retrieval"


def test_without_timing_there_is_no_budget() -> None:
    given = changed()
    del given["models"]["full"]["timing"]
    assert latency_budget(load_document(given).document, "short_assistant") is None


SUPPORT = Repeats(6000, Decimal("0.9"), Decimal("0.25"))


def support() -> PolicyDocument:
    """The support assistant's shape as a class, and its small route at a tenth of the large one."""
    given = changed()
    given["classes"]["long_assistant"].update(input_tokens=6300, max_output_tokens=250)
    given["classes"]["long_assistant"].pop("min_output_tokens")
    given["routing"]["cascade"]["small_cost_ratio"] = "0.1"
    return load_document(given).document


def test_the_cost_table_of_a_class_is_the_support_assistants() -> None:
    table = cost_table(support(), "long_assistant", SUPPORT)
    assert [(row.way, row.uncached, row.cached) for row in table.rows] == [
        ("large only", 7300, 2590),
        ("cascade", 2555, Decimal("906.5")),
        ("perfect classifier", Decimal("2372.5"), Decimal("841.75")),
    ]
    assert (table.break_even, table.cascade_pays) == (Decimal("0.9"), True)
    assert (table.prefix_from_use, table.prefix_saving) == (2, Decimal("0.785"))


def test_without_a_stated_ratio_the_demand_factors_give_it(reference: PolicyDocument) -> None:
    table = cost_table(reference, "short_assistant", Repeats(0, Decimal(0), Decimal("0.6")))
    assert (table.break_even, table.cascade_pays) == (Decimal("0.55"), False)
    assert table.prefix_saving is None


def test_an_upstreams_own_cache_prices_are_taken() -> None:
    given = changed()
    price = {"input_usd_per_million": "3", "output_usd_per_million": "15"}
    cached = {"cached_input_usd_per_million": "0.3", "cache_write_usd_per_million": "6"}
    given["prices"] = {"full": {**price, **cached}}
    table = cost_table(load_document(given).document, "long_assistant", SUPPORT)
    assert table.prefix_from_use == 3  # 2 + 0.1 is dearer than 2 uses, 2 + 0.2 cheaper than 3
    given["prices"] = {"full": price}
    plain = cost_table(load_document(given).document, "long_assistant", SUPPORT)
    assert plain.prefix_from_use is None
    assert plain.prefix_saving == 0
