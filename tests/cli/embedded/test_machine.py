"""Which processes one machine has: whatever dies alone is one that the supervisor starts again."""

from pathlib import Path
from typing import cast

from orchid.cli.embedded.machine import Machine
from orchid.cli.embedded.process import Child
from orchid.cli.embedded.supervisor import Supervisor
from orchid.cli.embedded.up import start_plain


class Started:
    """What a supervisor was told to start."""

    def __init__(self) -> None:
        self.children: list[Child] = []

    def start(self, *children: Child) -> None:
        self.children += children

    def say(self, _: str) -> None: ...


def test_the_ticks_are_a_part_of_their_own_and_no_process_inside_a_worker(tmp_path: Path) -> None:
    started = Started()
    start_plain(Machine(tmp_path, 8000, 8001, demo=False), cast("Supervisor", started))
    assert [child.name for child in started.children] == ["web", "worker", "beat"]
    ticking = [child.name for child in started.children if {"beat", "--beat", "-B"} & {*child.argv}]
    assert ticking == ["beat"]
