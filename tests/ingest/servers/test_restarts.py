"""Counters that begin again: a restart of the server, or one model that was loaded again."""

from datetime import UTC, datetime, timedelta

import pytest

from ingest.models import CounterSample, ServerChange, Source, TritonServer
from ingest.selectors.servers import counted
from ingest.services.servers import clients
from ingest.services.servers.restarts import Restart, restarts
from orchid.formats.engine_metrics import EngineFigure
from tests.ingest.servers.checking import checked
from tests.ingest.servers.double import RECORDED, Triton, read

pytestmark = pytest.mark.django_db


def figures(**standing: float) -> list[EngineFigure]:
    return [
        EngineFigure(model, "success_count", "", "", "counter", value)
        for model, value in standing.items()
    ]


def before(**standing: float) -> dict[tuple[str, str, str], float | None]:
    return {(model, "success_count", ""): value for model, value in standing.items()}


def test_everything_that_falls_at_once_is_a_restart_of_the_server() -> None:
    found = restarts(before(a=5, b=7, c=0), figures(a=0, b=1, c=0), was_away=False)
    assert found == Restart(server=True)


def test_one_of_several_that_falls_was_loaded_again() -> None:
    found = restarts(before(a=5, b=7), figures(a=0, b=8), was_away=False)
    assert found == Restart(models=["a"])


def test_after_an_absence_whatever_fell_is_a_restart() -> None:
    # The other has already counted past where it stood.
    assert restarts(before(a=5, b=7), figures(a=0, b=8), was_away=True).server


def test_the_only_model_there_is_falls_with_its_server() -> None:
    assert restarts(before(a=160), figures(a=5), was_away=False).server
    assert restarts(before(a=160, b=0), figures(a=5, b=0), was_away=False) == Restart(models=["a"])


def test_growth_is_no_restart() -> None:
    assert restarts(before(a=5), figures(a=6), was_away=True) == Restart()


def test_a_process_that_began_at_another_moment_has_restarted_whatever_its_counters_say() -> None:
    name = "process_start_time_seconds"
    now = EngineFigure("", name, "", "s", "gauge", 2_000.0)
    assert restarts({("", name, ""): 1_000.0}, [now], was_away=False).server
    assert not restarts({("", name, ""): 2_000.0}, [now], was_away=False).server


def test_load_times_tell_which_models_were_loaded_again() -> None:
    name = "nv_model_load_duration_secs"

    def load(model: str, seconds: float) -> EngineFigure:
        return EngineFigure(model, name, "", "s", "gauge", seconds)

    stood = {("a", name, ""): 1.5, ("b", name, ""): 2.5}
    one = restarts(stood, [load("a", 1.6), load("b", 2.5)], was_away=False)
    assert one == Restart(models=["a"])
    assert restarts(stood, [load("a", 1.6), load("b", 2.6)], was_away=False).server


def counts(triton: Triton, value: int) -> None:
    triton.statistics = read(RECORDED / "statistics-before.http.json")
    triton.ended("full", success=value)
    triton.ended("compact", success=value)


#: Any moment, and one from which the checks go over a minute, a day, a month and a year.
MOMENTS = [None, datetime(2025, 12, 31, 23, 58, 59, 999_999, UTC)]


@pytest.mark.parametrize("at", MOMENTS)
def test_100_160_5_25_grew_by_85_with_one_restart(
    polled: TritonServer, triton: Triton, at: datetime | None
) -> None:
    TritonServer.objects.filter(pk=polled.pk).update(warm_up="off", checked_at=at)
    runs = []
    for value in (100, 160, 5, 25):
        counts(triton, value)
        runs.append(checked(polled).server_run)
    assert runs[0] == runs[1] != runs[2] == runs[3]
    found = counted(TritonServer.objects.get(pk=polled.pk))
    by_name = {one.name: one for one in found.figures}
    assert (by_name["full"].answered, by_name["full"].resets) == (85, 1)
    assert (found.restarts, found.resets) == (1, 0)
    assert [run.server_run for run in Source.objects.order_by("pk")] == [runs[0], runs[2]]
    assert ServerChange.objects.filter(why="The server has started again.").count() == 1


def test_what_was_counted_before_the_first_answer_is_nobodys_growth(
    polled: TritonServer, triton: Triton, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check that got no answer knows of no 100, and the server did all of it before the 160."""
    TritonServer.objects.filter(pk=polled.pk).update(warm_up="off")
    with monkeypatch.context() as hasty:
        hasty.setattr(clients, "ANSWER_S", 0.2)
        triton.takes_s = 1.0
        counts(triton, 100)
        assert checked(polled).state == "unreachable"
    triton.takes_s = 0.0
    for value in (160, 5, 25):
        counts(triton, value)
        checked(polled)
    found = counted(TritonServer.objects.get(pk=polled.pk))
    by_name = {one.name: one for one in found.figures}
    assert (by_name["full"].answered, by_name["full"].resets) == (25, 1)


def test_one_model_that_was_loaded_again_is_told_from_a_restart(
    polled: TritonServer, triton: Triton
) -> None:
    TritonServer.objects.filter(pk=polled.pk).update(warm_up="off")
    counts(triton, 100)
    first = checked(polled).server_run
    triton.state_of("full")["inference_stats"]["success"]["count"] = 5
    triton.ended("compact", success=1)
    assert checked(polled).server_run == first
    found = counted(TritonServer.objects.get(pk=polled.pk))
    by_name = {one.name: one for one in found.figures}
    assert (by_name["full"].answered, by_name["full"].resets) == (5, 1)
    assert (found.restarts, found.resets) == (0, 1)
    assert ServerChange.objects.filter(why="full:1 was loaded again.").exists()


def test_samples_are_kept_once_a_minute_and_around_a_reset_and_lose_no_growth(
    polled: TritonServer, triton: Triton
) -> None:
    TritonServer.objects.filter(pk=polled.pk).update(warm_up="off")
    now = checked(polled).checked_at
    assert now
    for number, value in enumerate((10, 20, 30, 4, 9)):
        triton.statistics = read(RECORDED / "statistics-before.http.json")
        triton.ended("full", success=value)
        triton.ended("compact", success=1_000 + number)
        checked(polled, now + timedelta(seconds=10 * (number + 1)))
    found = {one.name: one for one in counted(TritonServer.objects.get(pk=polled.pk)).figures}
    assert found["full"].answered == 30 + 9
    assert found["compact"].answered == 1_004
    kept = CounterSample.objects.filter(series__model="full:1", series__name="success_count")
    assert list(kept.order_by("at").values_list("value", flat=True)) == [0, 30, 4]
