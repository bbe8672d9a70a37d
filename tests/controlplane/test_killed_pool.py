"""One process of a worker is killed while it waits for work: the worker ends and can be restarted.

Left alone, the others would wait for ever for a lock that the killed one holds.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from controlplane.pool import watch

WORKER = """
import sys
from celery import Celery
from celery.signals import worker_ready
from controlplane.pool import watch

app = Celery(broker="memory://")
app.conf.worker_redirect_stdouts = False
worker_ready.connect(watch, weak=False)

@worker_ready.connect
def tell(sender, **_):
    print(*[process.pid for process in sender.pool._pool._pool], flush=True)

app.worker_main(["worker", "--concurrency", "2", "--loglevel", "CRITICAL"])
"""


@pytest.mark.parametrize("which", [0, 1])
def test_a_worker_ends_with_a_process_of_it_that_was_killed(which: int) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", WORKER],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert worker.stdout is not None
        told = next(line for line in worker.stdout if line[0].isdecimal())
        processes = [int(pid) for pid in told.split()]
        os.kill(processes[which], signal.SIGKILL)
        # Its outputs end when nobody holds them any more: the other process is gone as well.
        _, said = worker.communicate(timeout=120)
    finally:
        worker.kill()
    assert worker.returncode == 1
    assert "was ended by SIGKILL; so is its worker" in said


def test_a_pool_that_looks_after_its_processes_itself_goes_on_doing_so() -> None:
    pool = SimpleNamespace(on_process_down=print)
    watch(SimpleNamespace(pool=SimpleNamespace(_pool=pool)))
    assert pool.on_process_down is print


def test_a_pool_without_processes_is_left_alone() -> None:
    pool = SimpleNamespace()
    watch(SimpleNamespace(pool=SimpleNamespace(_pool=pool)))
    watch(SimpleNamespace(pool=SimpleNamespace()))
    assert vars(pool) == {}
