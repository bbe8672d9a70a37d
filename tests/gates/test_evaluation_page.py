"""The page of one judgement says how much it took, and how a canary does beside the incumbent."""

import pytest

from gates.models import Evaluation
from gates.services import open_window
from tests.gates.gates_cast import SLUG, STEP, Judged, someone

pytestmark = pytest.mark.django_db


def page(evaluation: Evaluation) -> str:
    answer = someone("dee", "sre").get(f"/products/{SLUG}/gates/evaluations/{evaluation.pk}/")
    return " ".join(answer.content.decode().split())


def test_what_many_gates_take_and_how_far_neighbours_count_is_said(judged: Judged) -> None:
    judged.everywhere(20_000)
    evaluation = judged.judge()
    text = page(evaluation)
    assert evaluation.figures["multiplicity"]["said"] in text.replace("&gt;", ">")
    assert "60,000 requests count as 60,000. The document declares a design effect of 1.0" in text
    assert "too few to tell whether that is enough" in text


def test_a_window_that_suggests_more_says_what_to_declare(judged: Judged) -> None:
    judged.everywhere(20_000)
    evaluation = judged.judge()
    evaluation.figures["design_effect"] = {"declared": 1.0, "to_declare": 3.24, "blocks": 40}
    evaluation.save()
    text = page(evaluation)
    assert "The 40 blocks of this window suggest 3.2" in text
    assert "gates.design_effect_prior" in text


def test_a_canary_stands_beside_the_incumbent_in_every_stratum() -> None:
    judged = Judged(exposure=0.05, cohort="candidate")
    judged.traffic(2_000, good=1_900, cohort="candidate")
    judged.traffic(38_000, good=37_620)
    open_window(judged.product, judged.digest, 1, "incumbent", judged.opens_at - STEP, 0.95)
    text = page(judged.judge())
    assert "Beside the incumbent" in text
    assert "1,900 of 2,000" in text
    assert "37,620 of 38,000" in text
    assert "-4.00 points" in text.replace("\u2212", "-")


def test_who_has_no_incumbent_beside_sees_no_comparison(judged: Judged) -> None:
    judged.everywhere(20_000)
    assert "Beside the incumbent" not in page(judged.judge())
