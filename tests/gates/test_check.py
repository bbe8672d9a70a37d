"""May it ship? What can be asked about, and what is said where nothing was measured."""

from typing import Any

import pytest
from django.test import Client

from accounts.guard import SYSTEM_ACTOR
from gates.services import open_window
from policies.services import draft_generation
from tests.gates.gates_cast import Judged, api, given, machine

pytestmark = pytest.mark.django_db
STAGES = [{"observe": "1h"}, {"canary": 0.05, "hold": "1h"}, {"canary": 1.0, "hold": "1h"}]


@pytest.fixture
def staged() -> Judged:
    """Generation 1 is a candidate at 5 % under publication 2, having been live under 1."""
    document = given()
    document["rollout"]["stages"] = STAGES
    judged = Judged(document)
    judged.everywhere(20_000)
    judged.judge()
    return judged


def asked(client: Client, **question: Any) -> dict[str, Any]:
    answer = client.get(api("check"), question)
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def said(answer: dict[str, Any]) -> tuple[str, int]:
    return answer["verdict"], answer["exit_code"]


def test_validity_verdict_and_action_are_three_answers(staged: Judged) -> None:
    answer = asked(machine())
    assert said(answer) == ("pass", 0)
    assert answer["validity"]["valid"] is True
    assert answer["action"] == "hold"
    assert "no rollout is open" in answer["why"]
    assert answer["percentile_method"].startswith("nearest rank")
    assert (answer["generation"], answer["window"]["publication"]) == (1, 1)
    assert {"value", "bound", "margin", "low", "high", "n", "needs", "needs_s"} <= answer[
        "evaluation"
    ]["verdicts"][0].keys()


def test_a_stage_is_asked_for_by_its_number_or_its_share(staged: Judged) -> None:
    ci = machine()
    for stage in ("2", "5%", "0.05"):
        before = asked(ci, stage=stage)
        assert said(before) == ("no_data", 2)
        assert f"stage {stage}" in before["reasons"][0]
    window = open_window(staged.product, staged.digest, 2, "candidate", staged.opens_at, 0.05)
    staged.judge(window=window)
    for stage in ("2", "5%", "0.05"):
        found = asked(ci, stage=stage, generation=1)
        assert (found["window"]["publication"], found["window"]["exposure"]) == (2, 0.05)
        assert said(found) == ("no_data", 2)
    assert asked(ci, publication=1)["window"]["cohort"] == "incumbent"
    assert asked(ci, stage="1")["window"] is None  # it exposes nobody, so nothing is judged there


@pytest.mark.parametrize("stage", ["first", "0", "4", "120%", "0%", "-1", "nan", "٣", "9" * 60])
def test_a_stage_that_is_none_is_refused_in_words(staged: Judged, stage: str) -> None:
    answer = machine().get(api("check"), {"stage": stage})
    assert (answer.status_code, answer.json()["code"]) == (400, "not_a_stage")


def test_a_proposed_generation_is_no_data_with_the_next_step(staged: Judged) -> None:
    draft_generation(SYSTEM_ACTOR, staged.product, given(step_s=30), "Next")
    answer = asked(machine(), generation=2)
    assert said(answer) == ("no_data", 2)
    assert answer["evaluation"] is None
    assert answer["action"] == "hold"
    assert "No request of generation 2 was ever recorded" in answer["reasons"][0]
    assert answer["next_step"].startswith("Propose generation 2 for publication")


def test_an_unknown_generation_is_an_error_and_no_verdict(staged: Judged) -> None:
    answer = machine().get(api("check"), {"generation": 7})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_a_publication_that_no_edge_has_run_is_no_data(staged: Judged) -> None:
    answer = asked(machine(), publication=9)
    assert said(answer) == ("no_data", 2)
    assert "no edge has served publication 9" in answer["reasons"][0]
    assert "orchid status" in answer["next_step"]


def test_a_window_that_was_not_judged_yet_is_no_data(staged: Judged) -> None:
    open_window(staged.product, staged.digest, 3, "incumbent", staged.now, 1.0)
    answer = asked(machine(), publication=3)
    assert said(answer) == ("no_data", 2)
    assert answer["window"]["publication"] == 3
    assert "--wait" in answer["next_step"]
