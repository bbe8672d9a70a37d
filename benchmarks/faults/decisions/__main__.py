"""Kill web, worker and PostgreSQL in the middle of decisions; do state, bundle and audit agree?

    python -m benchmarks.faults.decisions --rounds 50 --seed 1

A real edge follows meanwhile. One line of JSON a round, then one with what was found. Exits with 1
when anything is wrong.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.faults.rig import Rig, rig, until

#: Longer than a killed worker's start and the lease of what it held, on a machine short of both.
SETTLED_WITHIN_S = 120.0
#: An act is done within this time; the kill falls somewhere into it.
LONGEST_ACT_S = 0.08


def main() -> int:
    arguments = _arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that all is cleaned up
    with rig({}) as machine:
        _become_part_of(machine)
        found = {"faults": ["not judged"]}
        try:
            for line in _run(machine, arguments.rounds, arguments.seed, arguments.minutes * 60):
                print(json.dumps(line), flush=True)
                found = line
        finally:
            if arguments.logs:
                shutil.copytree(machine.log, arguments.logs, dirs_exist_ok=True)
        return 1 if found["faults"] else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=30, help="no round begins after these")
    parser.add_argument("--logs", type=Path, help="a folder that the logs of the parts go to")
    return parser.parse_args()


def _become_part_of(machine: Rig) -> None:
    """Read the machine's database with the product's own models."""
    os.environ |= {**machine.machine.env, "DJANGO_SETTINGS_MODULE": "controlplane.settings"}
    import django

    django.setup()


def _run(machine: Rig, rounds: int, seed: int, within_s: float) -> Iterator[dict[str, Any]]:
    from benchmarks.faults.decisions.acts import Story
    from benchmarks.faults.decisions.people import People
    from benchmarks.faults.decisions.people import seed as seeded

    dice = random.Random(seed)  # noqa: S311 (repeatable, no secret)
    begun = seeded()
    machine.start_product()
    machine.start_edge("orchid-demo", begun.edge_token)
    people = People(machine.machine.url, begun, dice)
    story, acknowledged = Story(people, dice), Counter[str]()
    answers, faults = Counter[str](), list[str]()
    played, over_at = 0, time.monotonic() + within_s
    while played < rounds and time.monotonic() < over_at and not faults:
        played += 1
        line = _round(machine, story, dice)
        answers[f"{line['act']} {line['status']}"] += 1
        if line["done"]:
            acknowledged[line["act"]] += 1
        faults = _settled(machine, begun.edge_token, acknowledged)
        if line["status"] in (0, 500):
            faults.append(f"{line['act']}: {line['said']}")
        yield {"round": played} | line | {"faults": faults}
    yield {
        "rounds": played,
        "seed": seed,
        "restarts": {name: part.restarts for name, part in machine.parts.items()},
        "answers": dict(sorted(answers.items())),
        "faults": faults,
    }


def _round(machine: Rig, story: Any, dice: random.Random) -> dict[str, Any]:
    """One click with a kill in the middle of it, asked again until it is answered."""
    _unless_lost(machine)
    act = story.next()
    victim, inside = _victim(machine, dice)
    with ThreadPoolExecutor(1) as pool:
        clicked = pool.submit(act.click)
        time.sleep(dice.uniform(0.0, LONGEST_ACT_S))
        machine.kill(victim, inside)
        while not clicked.done():
            machine.revive()
            time.sleep(0.05)
        answer = clicked.result()
    machine.until_ready()
    return {
        "act": act.name,
        "killed": f"a process of {victim}" if inside else victim,
        "status": answer.status,
        "done": answer.done,
        "tries": answer.tries,
        "said": str(answer.body.get("detail", ""))[:200],
    }


def _victim(machine: Rig, dice: random.Random) -> tuple[str, int | None]:
    """A part, or one of the processes inside it: a worker's child, a server's connection."""
    name = dice.choice(["postgres", "web", "worker"])
    members = machine.members(name)
    inside = dice.choice(members) if name != "web" and members and dice.random() < 0.4 else None
    return name, inside


def _settled(machine: Rig, edge_token: str, acknowledged: Counter[str]) -> list[str]:
    """Wait for the edge and the sealer, then compare everything with everything."""
    from benchmarks.faults.decisions.agree import disagreements, edge_is_on_the_newest, sealed

    for what, at_rest in (("the edge", edge_is_on_the_newest), ("the sealer", sealed)):
        if not until(_asked_of_what_lives(machine, at_rest), SETTLED_WITHIN_S):
            return [f"{what} did not come to rest in {SETTLED_WITHIN_S} s"]
    return disagreements(machine.machine.url, edge_token, acknowledged)


def _asked_of_what_lives(machine: Rig, ask: Callable[[], bool]) -> Callable[[], bool]:
    def asked() -> bool:
        _unless_lost(machine)
        return ask()

    return asked


def _unless_lost(machine: Rig) -> None:
    """Connections that were killed are made anew by whoever asks next."""
    from django.db import connections

    machine.revive()
    machine.until_ready()
    connections.close_all()


if __name__ == "__main__":
    sys.exit(main())
