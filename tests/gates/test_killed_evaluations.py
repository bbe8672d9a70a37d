"""Workers that evaluate are killed at any line, hear a message twice, and come two at once."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.utils import timezone

from gates import tasks
from gates.models import CaseBody, Evaluation, Verdict, Watch
from gates.services import ask_product
from gates.services.asking import is_asked
from gates.services.evaluation import evaluate_free
from orchid.cli.embedded import database
from tests.gates.evaluating_process import STEPS
from tests.gates.gates_cast import Judged

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).parents[2]
ROWS = 5 + 3 * 4


@pytest.fixture
def asked(judged: Judged) -> Judged:
    """A window with traffic, and a judgement asked for whose message nobody has heard."""
    judged.everywhere(20_000)
    judged.edge_stays_heard()
    ask_product(judged.product)
    return judged


@contextmanager
def worker(window: int, *where: str) -> Iterator[subprocess.Popen[str]]:
    """A worker that is ready; whatever becomes of it, it is gone afterwards."""
    named = f"/{connection.settings_dict['NAME']}"
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "controlplane.settings",
        **{
            name: os.environ[name].replace(f"/{database.DATABASE}", named, 1)
            for name in ("DATABASE_URL", "DATABASE_OWNER_URL")
        },
    }
    command = [sys.executable, "-m", "tests.gates.evaluating_process", str(window), *where]
    with subprocess.Popen(
        command, cwd=ROOT, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert heard(process) == "ready"
            yield process
        finally:
            process.kill()


def heard(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def until_the_lease_is_free(window: int) -> None:
    """Wait until the database has noticed that the worker is gone."""
    with transaction.atomic():
        Watch.objects.select_for_update().filter(pk=window).first()


def nothing_is_there() -> bool:
    tables = (Evaluation, Verdict, CaseBody)
    return not any(table.objects.exists() for table in tables)


@pytest.mark.parametrize("where", STEPS)
def test_killed_at_any_line_nothing_is_there_and_redelivery_judges_it_whole(
    asked: Judged, where: str
) -> None:
    with worker(asked.window.pk, where) as process:
        begin(process)
        assert heard(process) == "reached"
        process.kill()
        process.wait()
    assert nothing_is_there()
    assert is_asked(asked.window.pk)
    until_the_lease_is_free(asked.window.pk)
    tasks.evaluate_window(asked.window.pk)
    evaluation = Evaluation.objects.get()
    assert evaluation.verdicts.count() == ROWS
    assert Watch.objects.get().evaluation_id == evaluation.pk
    assert CaseBody.objects.get().digest == evaluation.inputs_digest
    tasks.evaluate_window(asked.window.pk)
    assert Evaluation.objects.count() == 1


def test_a_message_that_was_heard_by_a_killed_worker_is_made_up_for_by_the_tick(
    asked: Judged,
) -> None:
    with worker(asked.window.pk, "case judged") as process:
        begin(process)
        assert heard(process) == "reached"
        # Whoever asks meanwhile waits for nobody, and a tick passes the window over.
        ask_product(asked.product)
        assert evaluate_free(asked.window.pk, timezone.now()) is None
        assert tasks.evaluate_open_windows() == 0
    until_the_lease_is_free(asked.window.pk)
    assert tasks.evaluate_open_windows() == 1
    assert Evaluation.objects.get().verdicts.count() == ROWS
    assert not is_asked(asked.window.pk)


def test_two_workers_at_once_make_one_evaluation(asked: Judged) -> None:
    with worker(asked.window.pk) as one, worker(asked.window.pk) as other:
        for process in (one, other):
            begin(process)
        assert (heard(one), heard(other)) == ("done", "done")
    assert Evaluation.objects.count() == 1
    assert Verdict.objects.count() == ROWS


def test_a_message_that_comes_late_judges_what_is_there_by_then(asked: Judged) -> None:
    tasks.evaluate_open_windows()
    asked.everywhere(20_000, good=0, minute=-2)
    Watch.objects.update(looked_at=timezone.now() - timedelta(minutes=5))
    tasks.evaluate_window(asked.window.pk)  # answered by the tick already
    assert Evaluation.objects.count() == 1
    ask_product(asked.product)
    tasks.evaluate_window(asked.window.pk)
    assert Evaluation.objects.latest("pk").verdict == "fail"
