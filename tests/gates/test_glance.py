"""How the gates stand and stood, at one glance."""

from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from accounts.guard import SYSTEM_ACTOR
from gates.models import Evaluation, Verdict, Window
from gates.selectors.heat_map import heat_map
from gates.selectors.history import MOST_MARKS, SLICES, Period, changed_in, history_of
from gates.services import open_window, push_evidence
from gates.states import Metric
from tests.gates.gates_cast import SLUG, Judged, someone

pytestmark = pytest.mark.django_db

HERE = f"/products/{SLUG}/gates/"
EVERY_PAGE = ("", "segments/", "history/attainment/", "evaluations/", "evaluations/?show=all")


def read(path: str = "", client: Client | None = None, **asked: Any) -> str:
    answer = (client or someone("dee", "sre")).get(HERE + path, asked)
    assert answer.status_code == 200, answer.content.decode()
    return unescape(" ".join(answer.content.decode().split()))


def long_ago(judged: Judged, count: int, every: timedelta) -> Evaluation:
    """So many judgements that passed, one after the other, and one failure among them."""
    judged.everywhere(20_000)
    last = judged.judge()
    Window.objects.update(opens_at=last.evaluated_at - (count + 1) * every)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO gates_evaluation (window_id, watermark, inputs_digest, outcome_digest,
                evidence_digest, evaluated_at, validity, verdict, action, why, reasons, figures,
                changed)
            SELECT window_id, watermark, n::text, outcome_digest, evidence_digest,
                evaluated_at - n * %s * interval '1 second', validity, verdict, action, why,
                reasons, figures, n = 1000
            FROM gates_evaluation, generate_series(1, %s) AS n WHERE id = %s
            """,
            [every.total_seconds(), count, last.pk],
        )
        cursor.execute(
            """
            INSERT INTO gates_verdict (evaluation_id, metric, segment, verdict, value, bound, n,
                n_effective, minimum, fragile, message)
            SELECT id, 'attainment', '',
                CASE WHEN changed AND inputs_digest = '1000' THEN 'fail' ELSE 'pass' END,
                '0.97', '0.96', 1000, 1000, 200, false, 'as told'
            FROM gates_evaluation WHERE id <> %s
            """,
            [last.pk],
        )
        cursor.execute("ANALYZE gates_evaluation, gates_verdict")
    return last


def test_the_page_says_what_happens_now_and_why_before_anything_else(judged: Judged) -> None:
    judged.everywhere(20_000, good=10_000)
    evaluation = judged.judge()
    text = read()
    assert evaluation.why in text
    assert text.index('class="standing standing--fail"') < text.index('class="gates"')
    assert "Hold" in text


def test_the_gravest_gate_comes_first(judged: Judged) -> None:
    judged.everywhere(20_000, violation=3)
    judged.judge()
    text = read()
    cards = text[text.index('class="gates"') :]
    assert cards.index("Violations") < cards.index("Completion p95")


def test_a_silent_segment_is_named_with_what_it_lacks(judged: Judged) -> None:
    judged.traffic(5_000, segment="a")
    judged.traffic(5_000, segment="b")
    judged.judge()
    text = read()
    assert "C: <strong>no data</strong>" in text
    assert "0 of 200" in text
    assert "Hold" in text


def test_what_waits_says_how_many_more_and_how_long(judged: Judged) -> None:
    judged.everywhere(100)
    judged.judge()
    text = read()
    assert "needs about" in text
    assert "more, about" in text


def test_the_last_hour_is_a_line_and_a_table(judged: Judged) -> None:
    for minute in range(3):
        judged.everywhere(1_000)
        judged.judge(judged.now + minute * timedelta(minutes=5))
    text = read()
    assert text.count('class="spark"') >= 1
    assert "Attainment, last hour: from 100.00 % to 100.00 %" in text
    assert "The last hour as a table" in text


def test_a_history_marks_changes_publications_and_evidence(judged: Judged) -> None:
    judged.everywhere(20_000)
    judged.judge()
    judged.everywhere(20_000, good=0)
    judged.judge(judged.now + timedelta(seconds=30))
    push_evidence(SYSTEM_ACTOR, judged.product, judged.cell(mean=0.95))
    until = (judged.now + timedelta(minutes=9)).isoformat()
    text = read("history/attainment/", until=until)
    assert "pass before" in text
    assert "publication 1" in text
    assert "1 new of 1" in text
    assert "100.00 %" in text


def test_a_history_is_told_by_segment(judged: Judged) -> None:
    judged.traffic(20_000, segment="a", good=10_000)
    judged.traffic(20_000, segment="b")
    judged.judge()
    until = (judged.now + timedelta(minutes=9)).isoformat()
    assert "50.00 %" in read("history/attainment/", segment="A", until=until)


@pytest.mark.parametrize(
    ("path", "asked", "status"),
    [
        ("history/happiness/", {}, 404),
        ("history/attainment/", {"span": "9y"}, 400),
        ("history/attainment/", {"until": "yesterday"}, 400),
        ("history/attainment/", {"until": "0001-01-02T12:00:00Z"}, 400),
        ("history/attainment/", {"until": "9999-12-31T23:00:00Z"}, 400),
        ("history/attainment/", {"until": "2026-01-01T00:00:00"}, 400),
        ("history/attainment/", {"until": "0001-01-01T00:00:00+00:00"}, 400),
        ("history/attainment/", {"until": "2020-01-01T00:00:00+00:00"}, 200),
    ],
)
def test_what_is_no_gate_or_no_time_is_told(
    judged: Judged, path: str, asked: dict[str, str], status: int
) -> None:
    assert someone("dee", "sre").get(HERE + path, asked).status_code == status


def test_a_picture_is_bounded_and_leaves_no_change_out(judged: Judged) -> None:
    last = long_ago(judged, 20_000, timedelta(seconds=1))
    period = Period(last.evaluated_at - timedelta(hours=6), last.evaluated_at)
    found = history_of(judged.product, Metric.ATTAINMENT, "", period)
    assert SLICES * 0.9 < len(found.points) <= SLICES + MOST_MARKS
    assert [point.row.verdict for point in found.points].count("fail") == 1
    assert len(changed_in(judged.product, period)) == 2


def test_a_change_that_falls_between_two_slices_is_still_there(judged: Judged) -> None:
    last = long_ago(judged, 2_000, timedelta(seconds=10))
    period = Period(last.evaluated_at - timedelta(days=30), last.evaluated_at)
    found = history_of(judged.product, Metric.ATTAINMENT, "", period)
    assert "fail" in {point.row.verdict for point in found.points}


def test_pages_ask_as_much_of_many_judgements_as_of_one(
    judged: Judged, django_assert_max_num_queries: Any
) -> None:
    long_ago(judged, 3_000, timedelta(seconds=5))
    client = someone("dee", "sre")
    for path in EVERY_PAGE:
        with django_assert_max_num_queries(45):
            assert client.get(HERE + path).status_code == 200


def test_the_map_shows_every_segment_gated_or_not_and_the_worst_first(judged: Judged) -> None:
    judged.traffic(20_000, segment="a")
    judged.traffic(400, segment="elsewhere", good=0)
    judged.judge()
    found = heat_map(judged.product)
    assert found.rows[0].key == ""
    assert "risk=elsewhere" in found.rows[1].key
    assert (found.rows[1].gates, list(found.rows[2].gates)) == ([], ["A"])
    assert found.worst is found.rows[1]
    text = read("segments/")
    assert "heat__cell--fail" in text
    assert text.count("gated</span>") == 1


def test_before_anything_was_judged_the_map_says_so(judged: Judged) -> None:
    assert "Nothing judged yet" in read("segments/")


def test_a_judgement_leads_from_validity_to_verdict_to_action(judged: Judged) -> None:
    judged.everywhere(20_000)
    evaluation = judged.judge()
    text = read(f"evaluations/{evaluation.pk}/")
    steps = [text.index(words) for words in ("Is the evidence valid?", "What happens")]
    assert steps == sorted(steps)
    assert f"{HERE}evaluations/{evaluation.pk}/packet" in text


def test_judgements_are_listed_by_change_or_all_of_them(judged: Judged) -> None:
    judged.everywhere(20_000)
    first = judged.judge()
    judged.everywhere(1)
    again = judged.judge(judged.now + timedelta(seconds=1))
    assert (first.changed, again.changed) == (True, False)
    client = someone("dee", "sre")
    by_change, every = read("evaluations/", client), read("evaluations/", client, show="all")
    page = f"evaluations/{again.pk}/"
    assert (page in by_change, page in every) == (False, True)


def test_two_windows_at_once_show_what_is_live(judged: Judged) -> None:
    judged.everywhere(20_000)
    judged.judge()
    second = open_window(
        judged.product, judged.digest, 2, "candidate", judged.opens_at + timedelta(minutes=1), 0.05
    )
    judged.judge(judged.now + timedelta(seconds=1), second)
    end: datetime = judged.now + timedelta(seconds=5)
    found = history_of(
        judged.product, Metric.ATTAINMENT, "", Period(end - timedelta(minutes=15), end)
    )
    assert {point.row.evaluation.window.publication for point in found.points} >= {2}
    assert Verdict.objects.filter(evaluation__window=second).exists()


def test_the_headline_names_gate_segment_value_and_bound(judged: Judged) -> None:
    judged.traffic(20_000, segment="a", good=10_000)
    judged.traffic(20_000, segment="b")
    judged.traffic(20_000, segment="c")
    judged.judge()
    assert "Attainment in A: 50.00 %, ≥ 96 % is due" in read()


def test_guardrails_stand_beside_the_gates(judged: Judged) -> None:
    judged.everywhere(20_000)
    evaluation = judged.judge()
    Verdict.objects.create(
        evaluation=evaluation,
        metric="guardrail:fallback_rate",
        verdict="fail",
        bound="<= 0.1",
        n=900,
        n_effective=900.0,
        minimum=0,
        message="the fallback rate is 0.2",
    )
    client = someone("dee", "sre")
    for text in (read("", client), read(f"evaluations/{evaluation.pk}/", client)):
        assert "fallback rate" in text
        assert "the fallback rate is 0.2" in text
