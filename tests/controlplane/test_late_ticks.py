"""A worker that is behind runs one tick of a backlog at once, and the next one that is sent."""

from queue import SimpleQueue
from typing import Any
from uuid import uuid4

import pytest
from celery import Celery
from celery.contrib.testing.worker import start_worker

from controlplane.celery import gathered_schedule
from controlplane.ticks import Overtaken, TickingTask, stamp

WITHIN_S = 30.0


class Behind:
    """An application of its own, whose worker hasn't started while messages pile up."""

    def __init__(self) -> None:
        self.app = Celery(f"late-{uuid4().hex}", task_cls=TickingTask, set_as_current=False)
        self.app.conf.update(
            broker_url="memory://",
            task_default_queue=uuid4().hex,
            worker_hijack_root_logger=False,
            beat_schedule={"tick": {"task": "room.tick", "schedule": 1.0}},
        )
        self.ran: SimpleQueue[str] = SimpleQueue()
        self.tick, self.work = self._task("tick"), self._task("work")

    def _task(self, name: str) -> Any:
        def run() -> None:
            self.ran.put(name)

        return self.app.task(run, name=f"room.{name}", shared=False)

    def seen(self, count: int) -> list[str]:
        return [self.ran.get(timeout=WITHIN_S) for _ in range(count)]

    def worker(self) -> Any:
        return start_worker(self.app, pool="solo", perform_ping_check=False, loglevel="ERROR")


@pytest.fixture
def behind(monkeypatch: pytest.MonkeyPatch) -> Behind:
    monkeypatch.setattr(TickingTask, "overtaken", Overtaken())
    return Behind()


def test_of_a_backlog_of_ticks_one_runs_and_then_the_next_that_is_sent(behind: Behind) -> None:
    for _ in range(20):
        behind.tick.delay()
    behind.work.delay()
    with behind.worker():
        assert behind.seen(2) == ["tick", "work"]
        behind.tick.delay()
        behind.work.delay()
        assert behind.seen(2) == ["tick", "work"]


def test_work_that_is_no_tick_is_done_as_often_as_it_was_asked_for(behind: Behind) -> None:
    for _ in range(3):
        behind.work.delay()
    with behind.worker():
        assert behind.seen(3) == ["work"] * 3


def test_a_tick_that_is_called_runs(behind: Behind) -> None:
    behind.tick()
    behind.tick()
    assert behind.seen(2) == ["tick"] * 2


def test_a_message_says_when_it_was_sent() -> None:
    headers: dict[str, Any] = {}
    stamp(headers)
    assert headers["sent_at"] > 1.7e9


def test_no_tick_of_any_room_expires() -> None:
    entries = gathered_schedule()
    assert "releases-reconcile" in entries
    assert not [name for name, entry in entries.items() if "expires" in entry.get("options", {})]
