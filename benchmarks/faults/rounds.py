"""What both runs share: how they are asked for, whose database they read, and who is killed."""

import argparse
import json
import random
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.faults.rig import Rig, rig

#: Plays so many rounds from a seed within so many seconds; its last line has the faults found.
Run = Callable[[Rig, int, int, float], Iterator[dict[str, Any]]]


def played(description: str | None, run: Run, settings: dict[str, str], rounds: int) -> int:
    """The exit code: 1 when anything is wrong. The logs are kept whatever happens."""
    asked = _asked(description, rounds)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that all is cleaned up
    with rig(settings) as machine:
        machine.let_in()
        found: dict[str, Any] = {"faults": ["not judged"]}
        try:
            for line in run(machine, asked.rounds, asked.seed, asked.minutes * 60):
                print(json.dumps(line), flush=True)
                found = line
        finally:
            if asked.logs:
                shutil.copytree(machine.log, asked.logs, dirs_exist_ok=True)
        return 1 if found["faults"] else 0


def victim(machine: Rig, dice: random.Random) -> tuple[str, int | None]:
    """A part, or one of the processes inside it: a worker's child, a server's connection."""
    name = dice.choice(["postgres", "web", "worker", "beat"])
    members = machine.members(name)
    inside = dice.choice(members) if name != "web" and members and dice.random() < 0.4 else None
    return name, inside


def _asked(description: str | None, rounds: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=30, help="no round begins after these")
    parser.add_argument("--logs", type=Path, help="a folder that the logs of the parts go to")
    return parser.parse_args()
