"""Ticks, redelivery and re-batching: equal inputs are one judgement."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db import DatabaseError, transaction

from gates import tasks
from gates.models import Evaluation, Evidence, Verdict
from gates.selectors import latest
from gates.selectors.verdicts import history
from tests.gates.gates_cast import STEP, Judged

pytestmark = pytest.mark.django_db


def test_equal_inputs_are_judged_once(judged: Judged) -> None:
    judged.everywhere(20_000)
    first = judged.judge()
    again = judged.judge(judged.now + timedelta(seconds=1))
    assert first.pk == again.pk
    assert Verdict.objects.filter(evaluation=first).count() == 17


def test_inputs_that_come_back_after_others_are_told_as_what_holds_now(judged: Judged) -> None:
    """A delivery waits and is then found to be a known one: for a while nothing could pass."""
    judged.everywhere(20_000)
    first = judged.judge()
    late = judged.batch(status="received", body=b"{}", size=2)
    held = judged.judge(judged.now + timedelta(seconds=1))
    late.delete()
    back = judged.judge(judged.now + timedelta(seconds=2))
    assert [one.verdict for one in (first, held, back)] == ["pass", "inconclusive", "pass"]
    assert (back.inputs_digest, back.outcome_digest) == (first.inputs_digest, first.outcome_digest)
    assert [one.again for one in (first, held, back)] == [0, 0, 1]
    assert (held.changed, back.changed) == (True, True)
    assert latest(judged.window) == back == judged.judge(judged.now + timedelta(seconds=3))
    assert list(history(judged.product).order_by("-evaluated_at")) == [back, held, first]


def test_batching_changes_neither_the_inputs_nor_the_verdict(judged: Judged) -> None:
    for _ in range(4):
        judged.everywhere(5_000)
    first = judged.judge()
    from ingest.models import RollupDelta

    RollupDelta.objects.all().delete()
    judged.everywhere(20_000)
    assert judged.judge().pk == first.pk


def test_more_good_traffic_never_turns_a_pass_into_a_fail(judged: Judged) -> None:
    judged.everywhere(20_000)
    assert judged.judge().verdict == "pass"
    judged.everywhere(20_000)
    assert judged.judge().verdict == "pass"


def test_a_tick_judges_what_moved_and_leaves_the_rest(judged: Judged) -> None:
    judged.everywhere(20_000)
    assert tasks.evaluate_open_windows() == 1
    assert Evaluation.objects.count() == 1
    if judged.window.evaluations.get().validity["valid"]:
        assert tasks.evaluate_open_windows() == 0
    judged.count_up_to(judged.now + STEP)
    assert tasks.evaluate_open_windows() == 1
    assert Evaluation.objects.count() == 2


def test_new_evidence_is_judged_without_new_traffic(
    judged: Judged,
    django_capture_on_commit_callbacks: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from accounts.guard import SYSTEM_ACTOR
    from gates.services import push_evidence

    # The edge is as fresh as its minute is young; a slow machine's edge would be silent.
    monkeypatch.setattr(tasks, "timezone", SimpleNamespace(now=lambda: judged.now))
    judged.everywhere(20_000)
    tasks.evaluate_window(judged.window.pk)
    assert Evaluation.objects.get().verdict == "pass"
    with django_capture_on_commit_callbacks() as queued:  # type: ignore[operator]
        push_evidence(SYSTEM_ACTOR, judged.product, judged.cell(suite_version="2", mean=0.5))
    assert len(queued) == 1
    tasks.evaluate_window(judged.window.pk)
    assert Evaluation.objects.order_by("-id")[0].verdict == "fail"


def test_evidence_never_changes(judged: Judged) -> None:
    for act in (Evidence.objects.all().delete, lambda: Evidence.objects.update(mean=0.99)):
        with pytest.raises(DatabaseError), transaction.atomic():
            act()
