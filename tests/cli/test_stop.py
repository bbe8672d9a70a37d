"""A signal may come at any step of a wait, in the middle of another signal too."""

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from orchid.cli.stop import Stop


@pytest.fixture
def stop() -> Iterator[Stop]:
    before = signal.getsignal(signal.SIGUSR1)
    made = Stop()
    made.at(signal.SIGUSR1)
    yield made
    signal.signal(signal.SIGUSR1, before)


def test_it_waits_no_longer_than_it_is_asked_to() -> None:
    stop = Stop()
    assert not stop.wait(0.0)
    assert not stop.is_set()


def test_a_thread_wakes_who_waits() -> None:
    stop = Stop()
    threading.Timer(0.01, stop.set).start()
    assert stop.wait(30)
    assert stop.wait()


def test_signals_at_any_step_of_many_waits_are_all_survived(stop: Stop) -> None:
    """An event of `threading` hangs here: its handler waits for the lock that the wait holds."""
    over = threading.Event()

    def fire() -> None:
        while not over.is_set():
            os.kill(os.getpid(), signal.SIGUSR1)

    firing = threading.Thread(target=fire)
    firing.start()
    try:
        for _ in range(2_000):
            stop.wait(0.0)
    finally:
        over.set()
        firing.join()
    assert stop.is_set()
