"""Measures of counted traffic: exact where counted, without a value where not."""

from decimal import Decimal
from fractions import Fraction

import pytest

from orchid.engine.document.load import LoadedDocument
from orchid.engine.document.model import PolicyDocument
from orchid.engine.document.routing import Cascade, Routing
from orchid.engine.measures import DIAGNOSTIC_ONLY, MEASURES, Reading, measure, observed
from orchid.engine.verdict.counted import CellSums
from tests.engine.measured_cells import cell, fields, figure


@pytest.fixture(scope="module")
def policy(demo: tuple[LoadedDocument, LoadedDocument]) -> PolicyDocument:
    return demo[1].document


def read(
    name: str,
    policy: PolicyDocument,
    *cells: CellSums,
    baseline: tuple[CellSums, ...] = (),
    where: dict[str, str] | None = None,
    seconds: str = "60",
) -> Reading:
    found = measure(name)
    assert found is not None
    return found.read(observed(policy, cells, where or {}, baseline, Decimal(seconds)))


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_of_nothing_has_no_value(name: str, policy: PolicyDocument) -> None:
    assert read(name, policy) == Reading(None, 0)


@pytest.mark.parametrize("name", MEASURES)
def test_what_no_request_told_is_unknown_and_not_zero(name: str, policy: PolicyDocument) -> None:
    shares = {one for one in MEASURES if one.endswith("_share")}
    untold = read(name, policy, cell(**fields()))
    if name not in shares or name in {"live_cache_share", "prefix_read_share"}:
        assert untold.value is None


def test_shares_count_the_population_that_they_are_a_share_of(policy: PolicyDocument) -> None:
    cells = cell(**fields(n=80)), cell(route="compact", **fields(n=20, fallback=18))
    assert read("fallback_share", policy, *cells) == Reading(Fraction(18, 100), 100)


def test_a_selector_takes_its_part_alone(policy: PolicyDocument) -> None:
    cells = cell(teu="30", **fields(n=30)), cell("task=extraction", teu="10", **fields(n=10))
    assert read("attained_share", policy, *cells, where={"task": "extraction"}) == Reading(
        Fraction(1, 4), 40
    )


def test_mean_and_longest_are_of_those_that_told(policy: PolicyDocument) -> None:
    told = cell(figures={"queue_ms": figure("queue_ms", 10, 20, 1.5)}, **fields())
    assert read("queue_dwell_mean_ms", policy, told) == Reading(Fraction(63, 6), 3)
    assert read("queue_dwell_max_ms", policy, told, cell(**fields())) == Reading(Fraction(20), 3)


def test_the_worst_length_bucket_is_named(policy: PolicyDocument) -> None:
    short = cell("output_bucket=0-64", **fields(completed=99))
    long = cell("output_bucket=65+", **fields(n=50, completed=40))
    assert read("worst_bucket_completion_share", policy, short, long) == Reading(
        Fraction(4, 5), 50, "65+"
    )


def test_prefix_reads_are_those_of_the_route_that_reads_least(policy: PolicyDocument) -> None:
    def reading(route: str, cached: float) -> CellSums:
        figures = {
            "input_tokens": figure("input_tokens", 1000),
            "cached_input_tokens": figure("cached_input_tokens", cached),
        }
        return cell(route=route, figures=figures, **fields(n=1))

    untold = cell(route="other", figures={"input_tokens": figure("input_tokens", 9)}, **fields())
    found = read("prefix_read_share", policy, reading("full", 900), reading("compact", 300), untold)
    assert found == Reading(Fraction(3, 10), 1, "compact sha256:m")


def test_prediction_error_has_two_sides_and_needs_both(policy: PolicyDocument) -> None:
    def told(predicted: float, observed_teu: float) -> CellSums:
        figures = {
            "teu_predicted": figure("teu_predicted", predicted),
            "teu_observed": figure("teu_observed", observed_teu),
        }
        return cell(figures=figures, **fields(n=1))

    assert read("teu_error", policy, told(100, 90)).value == Fraction(1, 10)
    assert read("teu_error", policy, told(100, 110)).value == Fraction(1, 10)
    alone = cell(figures={"teu_predicted": figure("teu_predicted", 5)}, **fields(n=1))
    assert read("teu_error", policy, alone).value is None


def test_a_mix_shift_is_the_largest_move_of_a_class(policy: PolicyDocument) -> None:
    def of(task: str, tokens: float) -> CellSums:
        figures = {"input_tokens": figure("input_tokens", tokens)}
        return cell(f"task={task}", figures=figures, **fields(n=1))

    before = of("x", 500), of("y", 500)
    now = of("x", 700), of("y", 300)
    assert read("mix_shift", policy, *now, baseline=before).value == Fraction(1, 5)
    assert read("mix_shift", policy, *now).value is None


def test_escalation_is_of_what_the_small_route_was_asked(policy: PolicyDocument) -> None:
    cascade = Cascade(small="compact", large="full", threshold=0.8, validated_by="suite 1")
    cascading = policy.model_copy(update={"routing": Routing(cascade=cascade)})
    cells = cell(route="compact", **fields(n=70)), cell(**fields(n=200, escalated=30))
    assert read("escalation_share", cascading, *cells) == Reading(Fraction(3, 10), 100)
    assert read("escalation_share", policy, *cells).value is None


def test_live_cache_is_a_part_of_what_the_fleet_may_hold(policy: PolicyDocument) -> None:
    limits = policy.admission.live_tokens
    assert limits is not None
    room = limits.per_device * policy.fleet.devices
    held = cell(figures={"live_token_ms": figure("live_token_ms", 60_000 * room / 2)}, **fields())
    assert read("live_cache_share", policy, held).value == Fraction(1, 2)


def test_how_busy_an_accelerator_is_is_no_measure() -> None:
    assert DIAGNOSTIC_ONLY.isdisjoint(MEASURES)
    assert {"gpu_utilization", "accelerator_utilisation"} <= DIAGNOSTIC_ONLY
