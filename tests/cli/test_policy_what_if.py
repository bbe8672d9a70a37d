"""`orchid policy what-if` and the capacity that `explain` tells."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from orchid.cli.policy import policy
from tests.reference_document import SOURCE


@pytest.fixture
def reference(tmp_path: Path) -> str:
    file = tmp_path / "policy.yaml"
    file.write_text(SOURCE)
    return str(file)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(policy, list(arguments))


def test_a_scenario_that_fits_says_what_is_spare(reference: str) -> None:
    result = run("what-if", reference, "short_assistant -10%")
    assert result.exit_code == 0
    assert "demand 80,925 TEU/s, capacity 98,000, spare 17,075" in result.output
    assert "renegotiate" not in result.output


def test_the_launch_with_a_lost_group_lists_what_to_renegotiate(reference: str) -> None:
    result = run("what-if", reference, "short assistant +60%", "lose 1 group")
    assert result.exit_code == 1
    assert "demand 102,660 TEU/s, capacity 84,000, deficit 18,660" in result.output
    assert "31,050  49,680" in result.output
    assert "To renegotiate" in result.output
    (fund,) = [line for line in result.output.splitlines() if "fund 6 more" in line]
    assert fund.startswith("yes ")


def test_the_figures_are_the_same_for_machines(reference: str) -> None:
    result = run("what-if", reference, "short_assistant +60%, lose group 3", "--json")
    data = json.loads(result.output)
    assert (data["deficit_teu_per_s"], data["fits"]) == ("18660", False)
    assert data["classes"]["short_assistant"]["teu_per_s"] == "49680"
    assert {relief["what"] for relief in data["renegotiate"] if relief["closes"]} == {
        "fund_warm_capacity"
    }


def test_a_route_without_a_replica_left_is_named(tmp_path: Path) -> None:
    content = SOURCE.replace("placement: {compact: [1, 3, 5, 7]", "placement: {compact: [3]")
    assert content != SOURCE
    file = tmp_path / "policy.yaml"
    file.write_text(content)
    result = run("what-if", str(file), "short_assistant -50%", "lose group 3")
    assert result.exit_code == 1
    assert "No replica is left of compact." in result.output


def test_words_that_say_no_scenario_are_answered_with_some_that_do(reference: str) -> None:
    result = run("what-if", reference, "short_asistant +60%")
    assert result.exit_code != 0
    assert "did you mean short_assistant" in result.output
    assert "lose group 3" in run("what-if", reference, "more").output


def test_explain_tells_every_trial_and_what_headroom_is_for(reference: str) -> None:
    data = json.loads(run("explain", reference, "--json").output)
    assert {name: load["fits"] for name, load in data["capacity"].items()} == {
        "steady": True,
        "spike": False,
        "group_loss": False,
        "candidate_overlap": False,
    }
    # 140,000 raw TEU/s, of which 30 % are not promised.
    assert sum(float(kept) for kept in data["headroom"].values()) == 42_000
    assert round(float(data["equal_price_share"]), 6) == 0.003077
    assert round(float(data["demand"]["document_generation"]["fleet_second_share"]), 4) == 0.0716


def test_explain_sets_equal_prices_beside_the_work(reference: str) -> None:
    out = run("explain", reference).output
    assert "Counted alike, every request would be 0.31 %." in out
    assert "headroom kept for" in out
