"""What the gates say, to machines and to people."""

from datetime import timedelta

import pytest
from django.test import Client

from gates.models import Watch
from tests.gates.gates_cast import SLUG, Judged, api, given, machine, posted, someone

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("good", "verdict", "code"), [(20_000, "pass", 0), (10_000, "fail", 1), (19_190, None, 2)]
)
def test_the_check_answers_with_an_exit_code(
    judged: Judged, good: int, verdict: str | None, code: int
) -> None:
    judged.everywhere(20_000, good=good)
    judged.judge()
    answer = machine().get(api("check")).json()
    assert answer["exit_code"] == code
    assert answer["verdict"] == (verdict or "inconclusive")
    assert bool(answer["reasons"]) == (code != 0)


def test_what_was_never_live_is_no_data_and_never_a_pass(judged: Judged) -> None:
    from accounts.guard import SYSTEM_ACTOR
    from policies.services import draft_generation

    draft_generation(SYSTEM_ACTOR, judged.product, given(step_s=30), "Next")
    answer = machine().get(api("check"), {"generation": 2}).json()
    assert (answer["verdict"], answer["exit_code"]) == ("no_data", 2)
    (reason,) = answer["reasons"]
    assert "no gateway population" in reason
    assert "generation 2" in reason


def test_a_judgement_that_nobody_renews_no_longer_passes(judged: Judged) -> None:
    judged.everywhere(20_000)
    evaluation = judged.judge()
    assert evaluation.verdict == "pass"
    Watch.objects.update(looked_at=judged.now - timedelta(days=365))
    answer = machine().get(api("check")).json()
    assert answer["exit_code"] == 2
    assert "is a worker running?" in answer["reasons"][0]


def test_verdicts_carry_value_bound_margin_sample_and_message(judged: Judged) -> None:
    judged.everywhere(20_000)
    judged.judge()
    answer = machine().get(api("verdicts"), {"publication": 1}).json()
    rows = {(row["metric"], row["segment"]): row for row in answer["verdicts"]}
    row = rows["attainment", "A"]
    assert (row["value"], row["bound"], row["margin"]) == ("1.000000", "0.96", "0.040000")
    assert (row["n"], row["minimum"]) == (20_000, 200)
    assert "where 96 % are due" in row["message"]
    assert answer["window"]["publication"] == 1
    assert answer["validity"]["valid"]
    assert answer["action"] == "hold"
    assert answer["why"].startswith("no rollout is open")
    assert answer["outcome_digest"].startswith("sha256:")


@pytest.mark.parametrize("path", ["verdicts", "check", "evidence"])
def test_the_product_may_stand_in_the_query(judged: Judged, path: str) -> None:
    judged.everywhere(20_000)
    judged.judge()
    client = machine()
    assert client.get(f"/api/v1/{path}", {"product": SLUG}).status_code == 200
    assert client.get(f"/api/v1/{path}").json()["code"] == "product_missing"


def test_a_number_that_is_none_is_refused(judged: Judged) -> None:
    answer = machine().get(api("check"), {"generation": "two"})
    assert (answer.status_code, answer.json()["code"]) == (400, "not_a_number")


def test_a_gate_on_an_unknown_metric_is_refused_when_it_is_proposed(judged: Judged) -> None:
    document = given(happiness={"min": 0.9, "window": "1h"})
    answer = posted(machine(), "generations", {"title": "Happier", "document": document})
    assert answer.status_code in (400, 422)
    assert "/gates/happiness" in answer.content.decode()


def test_a_contract_without_gates_is_refused(judged: Judged) -> None:
    document = given()
    del document["gates"]
    answer = posted(machine(), "generations", {"title": "Free", "document": document})
    assert answer.status_code in (400, 422)
    assert "/gates" in answer.content.decode()


def test_the_page_shows_five_gates_and_every_segment(judged: Judged) -> None:
    judged.everywhere(20_000)
    judged.judge()
    text = someone("ben", "product_owner").get(f"/products/{SLUG}/gates/").content.decode()
    for part in ("Completion p95", "Cost per success", "Utility index", "Attainment", "Violations"):
        assert part in text
    for part in ("The whole", 'scope="row">A<', 'scope="row">C<', "nearest rank", "Generation 1"):
        assert part in text


def test_the_page_says_what_is_missing_before_there_is_anything(judged: Judged) -> None:
    client = someone("ben", "product_owner")
    assert "Nothing judged yet" in client.get(f"/products/{SLUG}/gates/").content.decode()
    assert (
        "Nothing judged yet" in client.get(f"/products/{SLUG}/gates/evaluations/").content.decode()
    )


def test_htmx_gets_the_partial_that_the_page_includes(judged: Judged) -> None:
    judged.judge()
    client = someone("ben", "product_owner")
    part = client.get(f"/products/{SLUG}/gates/", headers={"HX-Request": "true"})
    assert "<html" not in part.content.decode()
    assert "No data" in part.content.decode()


def test_history_leads_to_each_judgement(judged: Judged) -> None:
    judged.everywhere(20_000, good=10_000)
    evaluation = judged.judge()
    client = someone("eve", "auditor")
    listed = client.get(f"/products/{SLUG}/gates/evaluations/").content.decode()
    address = f"/products/{SLUG}/gates/evaluations/{evaluation.pk}/"
    assert address in listed
    text = client.get(address).content.decode()
    assert "50 % of 20,000 successful where 96 % are due" in text
    assert "technical success" in text
    assert client.get(f"/products/{SLUG}/gates/evaluations/0/").status_code == 404


@pytest.mark.parametrize("path", ["gates/", "gates/evaluations/", "evidence/"])
def test_pages_are_closed_to_strangers(judged: Judged, path: str) -> None:
    assert Client().get(f"/products/{SLUG}/{path}").status_code == 302
    stranger = someone("mallory", "auditor")
    from accounts.models import Grant

    Grant.objects.update(product_slug="another")
    assert stranger.get(f"/products/{SLUG}/{path}").status_code == 404
