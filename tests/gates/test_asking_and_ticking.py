"""A burst of triggers costs one evaluation, and no window starves another."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from gates import tasks
from gates.models import CaseBody, Evaluation, Watch, Window
from gates.selectors.evaluations import case_bytes
from gates.services import (
    ask_product,
    cite,
    evaluation,
    inputs,
    open_window,
    push_evidence_set,
    ticking,
)
from gates.services.asking import is_asked
from gates.services.cases import forget_cases
from ingest.models import Batch
from orchid.engine.verdict.case import decode
from orchid.engine.verdict.judgement import judge_case
from tests.gates.gates_cast import SEGMENTS, STEP, Judged

pytestmark = pytest.mark.django_db
Captured = Callable[[], Any]


@pytest.fixture
def heard(judged: Judged) -> Judged:
    """Judged once, with no message on its way."""
    judged.everywhere(20_000)
    judged.edge_stays_heard()
    tasks.evaluate_window(judged.window.pk)
    return judged


def looked_at(judged: Judged) -> datetime | None:
    return Watch.objects.get(pk=judged.window.pk).looked_at


def test_a_burst_of_triggers_is_one_message_and_one_evaluation(
    heard: Judged, django_capture_on_commit_callbacks: Captured
) -> None:
    with django_capture_on_commit_callbacks() as queued:
        for _ in range(20):
            ask_product(heard.product)
    assert len(queued) == 1
    tasks.evaluate_window(heard.window.pk)
    seen = looked_at(heard)
    tasks.evaluate_window(heard.window.pk)  # delivered twice
    assert looked_at(heard) == seen
    assert not is_asked(heard.window.pk)


def test_a_push_of_five_hundred_cells_is_one_evaluation(
    heard: Judged, django_capture_on_commit_callbacks: Captured
) -> None:
    cells = [heard.cell(where={"task": f"task-{n}"}) for n in range(500)]
    with django_capture_on_commit_callbacks() as queued:
        push_evidence_set(SYSTEM_ACTOR, heard.product, {"items": cells})
    assert len(queued) == 1


def test_two_triggers_while_one_evaluation_runs_cost_one_more(
    heard: Judged, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Captured
) -> None:
    gather = inputs.gather

    def asked_meanwhile(read: Any) -> Any:
        case = gather(read)
        ask_product(heard.product)
        ask_product(heard.product)
        return case

    ask_product(heard.product)
    monkeypatch.setattr(evaluation, "gather", asked_meanwhile)
    with django_capture_on_commit_callbacks() as queued:
        tasks.evaluate_window(heard.window.pk)
    assert len(queued) == 1
    monkeypatch.setattr(evaluation, "gather", gather)
    assert is_asked(heard.window.pk)
    tasks.evaluate_window(heard.window.pk)
    assert not is_asked(heard.window.pk)


def test_a_mark_whose_message_was_lost_is_found_by_the_tick(heard: Judged) -> None:
    tasks.evaluate_open_windows()
    ask_product(heard.product)
    assert tasks.evaluate_open_windows() == 1
    assert not is_asked(heard.window.pk)


def test_a_tick_out_of_time_leaves_the_rest_to_the_next_which_begins_with_it(
    judged: Judged,
) -> None:
    windows = [judged.window] + [
        open_window(judged.product, judged.digest, number, "incumbent", judged.opens_at, 1.0)
        for number in range(2, 7)
    ]
    now = [judged.now]

    def clock() -> datetime:
        now[0] += timedelta(seconds=2)
        return now[0]

    for _ in windows:
        assert ticking.tick(clock, timedelta(seconds=1)) == 1
    assert Watch.objects.exclude(looked_at=None).count() == len(windows)


def test_a_violation_of_the_running_step_is_judged_by_the_next_tick(judged: Judged) -> None:
    judged.everywhere(20_000)
    assert judged.judge().verdict == "pass"
    watch = Watch.objects.get(pk=judged.window.pk)
    window = Window.objects.select_related("product", "watch").get(pk=judged.window.pk)
    moment = judged.now + timedelta(seconds=5)
    assert not ticking.is_due(window, moment)
    judged.traffic(1, good=0, violation=1, segment="b", minute=0)
    assert ticking.is_due(window, moment)
    told = judged.judge(moment)
    assert (told.verdict, told.watermark) == ("fail", watch.judged_to)


def test_records_that_come_late_are_judged_by_the_next_tick_and_once(judged: Judged) -> None:
    judged.everywhere(20_000)
    judged.judge()
    windows = Window.objects.select_related("product", "watch")
    moment = judged.now + timedelta(seconds=5)
    assert not ticking.is_due(windows.get(pk=judged.window.pk), moment)
    judged.traffic(40, good=40, segment="a")
    late = Batch.objects.order_by("-pk")[:1].values("pk")
    Batch.objects.filter(pk__in=late).update(done_at=moment - timedelta(seconds=2))
    assert ticking.is_due(windows.get(pk=judged.window.pk), moment)
    offered = judged.judge(moment).figures["whole"]["populations"]["offered"]
    assert offered == len(SEGMENTS) * 20_000 + 40
    assert not ticking.is_due(windows.get(pk=judged.window.pk), moment + timedelta(seconds=3))


def test_a_window_that_nothing_happens_to_is_looked_at_again_in_time(judged: Judged) -> None:
    judged.everywhere(20_000)
    first = judged.judge()
    window = Window.objects.select_related("product", "watch").get(pk=judged.window.pk)
    later = judged.now + ticking.LOOK_AGAIN + timedelta(seconds=1)
    assert ticking.is_due(window, later)
    assert judged.judge(later).pk == first.pk
    assert looked_at(judged) == later


def test_a_case_is_kept_where_a_verdict_changed_or_somebody_cites_it(judged: Judged) -> None:
    judged.everywhere(20_000)
    changed = judged.judge()
    others = []
    for minutes in (1, 2):
        judged.everywhere(20_000, minute=minutes - 1)
        judged.count_up_to(judged.now + minutes * STEP)
        others.append(judged.judge(judged.now + minutes * STEP))
    cited, uncited = others
    assert {one.verdict for one in (changed, cited, uncited)} == {"pass"}
    assert cite(cited.pk)
    assert forget_cases(judged.now + timedelta(hours=1)) == 0
    assert forget_cases(judged.now + timedelta(days=2)) == 1
    kept = set(CaseBody.objects.values_list("digest", flat=True))
    assert kept == {changed.inputs_digest, cited.inputs_digest}
    assert not cite(uncited.pk)


def test_a_stored_judgement_follows_from_its_stored_case(judged: Judged) -> None:
    judged.everywhere(20_000, good=19_000)
    stored = judged.judge()
    again = judge_case(decode(case_bytes(stored)))
    assert again.digest == stored.outcome_digest
    assert (again.verdict, again.action) == (stored.verdict, stored.action)
    rows = stored.verdicts.values_list("metric", "segment", "verdict", "value", "message")
    assert set(rows) == {
        (one.metric, one.segment, one.verdict, one.value, one.message) for one in again.results
    }


def test_the_detector_goes_on_with_each_step_and_stands_still_without_one(judged: Judged) -> None:
    judged.everywhere(20_000)
    judged.judge()
    first = Watch.objects.get(pk=judged.window.pk)
    assert (first.after["steps"], first.watched_to) == (10, judged.now)
    judged.judge(judged.now + timedelta(seconds=3))
    assert Watch.objects.get(pk=judged.window.pk).after == first.after
    judged.count_up_to(judged.now + 2 * STEP)
    judged.judge(judged.now + 2 * STEP)
    assert Watch.objects.get(pk=judged.window.pk).after["steps"] == 12


def test_a_rare_segment_keeps_its_start_until_a_stretch_holds_enough() -> None:
    judged = Judged()
    opened = judged.now - timedelta(hours=19)
    Window.objects.update(opens_at=opened, live_from=opened)
    judged.traffic(300, segment="c", minute=-18 * 60)
    for segment in "ab":
        judged.traffic(5_000, segment=segment, minute=-18 * 60)
        judged.traffic(5_000, segment=segment)
    judged.traffic(50, segment="c")
    judged.judge()
    assert judged.verdict(Evaluation.objects.get(), "attainment", "A").n == 5_000
    assert judged.verdict(Evaluation.objects.get(), "attainment", "C").n == 350
    assert Watch.objects.get().starts == {"C": opened.isoformat()}
    judged.traffic(400, segment="c", minute=-2)
    latest = judged.judge(judged.now + timedelta(seconds=1))
    assert judged.verdict(latest, "attainment", "C").n == 450
    assert Watch.objects.get().starts == {}


def test_a_stage_grows_from_its_opening_however_long_it_lasts() -> None:
    judged = Judged(cohort="candidate")
    opened = judged.now - timedelta(hours=19)
    Window.objects.update(opens_at=opened)
    for minute in (-18 * 60, -1):
        judged.traffic(5_000, minute=minute, cohort="candidate")
    assert judged.verdict(judged.judge(), "attainment", "A").n == 10_000


def test_a_closed_window_is_looked_at_while_late_records_may_come(judged: Judged) -> None:
    judged.everywhere(20_000)
    Window.objects.update(closes_at=timezone.now())
    assert tasks.evaluate_open_windows() == 1
    Watch.objects.update(looked_at=None)
    Window.objects.update(
        opens_at=judged.opens_at - timedelta(hours=1),
        closes_at=timezone.now() - 2 * ticking.LATE,
    )
    assert tasks.evaluate_open_windows() == 0
