"""`orchid policy explain --request`: one decision with every constraint, offline."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from orchid.cli.policy import policy

FILE = str(Path(__file__).parents[2] / "examples/orchid-serve/generation-1.yaml")


def explained(request: str, *more: str) -> Result:
    return CliRunner().invoke(policy, ["explain", FILE, "--request", request, *more])


def test_an_admitted_request_has_its_route_price_and_time() -> None:
    answer = explained("class=short_assistant")
    assert answer.exit_code == 0
    assert answer.output.startswith("admit: requested\n")
    assert "served by full: 345 TEU, 1,020 live tokens" in answer.output
    assert "input 900 + output 120 = 1,020 ≤ 16,384 tokens of context" in answer.output
    assert ", one of 16 warm for it;" in answer.output


def test_figures_of_thousands_are_separated_in_words_and_plain_in_json() -> None:
    request = "class=document_generation,input_tokens=9000"
    assert "premium: 5,670 TEU, 9,900 live tokens" in explained(request).output
    data = json.loads(explained(request, "--json").output)
    assert (data["offer"]["teu"], data["offer"]["live_tokens"]) == ("5670", 9900)


def test_a_refused_request_has_its_reason_and_what_the_client_may_do() -> None:
    data = json.loads(explained("class=document_generation,deadline_in_ms=400", "--json").output)
    assert (data["action"], data["reason"]) == ("reject", "deadline_infeasible")
    assert data["offer"] is None
    assert data["refusal"]["status"] == 503
    refused = [one for one in data["constraints"] if one["reason"]]
    assert (refused[0]["option"], refused[0]["step"]) == ("premium", "time")


def test_load_is_part_of_the_question() -> None:
    data = json.loads(explained("class=classification,load=2000", "--json").output)
    assert data["reason"] == "share_exhausted"
    assert data["fleet"]["running"] > 0


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ("clas=x", "did you mean class?"),
        ("class", "is no key=value"),
        ("", "name a class"),
        ("class=short_assistant,load=much", "whole number"),
    ],
)
def test_words_that_describe_no_request_end_with_what_would(request_: str, said: str) -> None:
    answer = explained(request_)
    assert answer.exit_code == 1
    assert said in answer.output


def test_an_undeclared_class_is_named_and_decided_by_the_lengths_that_are_given() -> None:
    answer = explained("class=short_asistant")
    assert answer.output.startswith("reject: unknown class")
    assert "did you mean short_assistant? An undeclared class has no lengths: give" in answer.output
    sized = explained("class=short_asistant,input_tokens=900,max_output_tokens=120")
    assert sized.output.startswith("admit: conservative route")
