"""Kill web, worker, beat and PostgreSQL amid decisions; do state, bundle and audit agree?

    python -m benchmarks.faults.decisions --rounds 50 --seed 1

A real edge follows meanwhile. One line of JSON a round, then one with what was found. Exits with 1
when anything is wrong.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.faults.rig import Rig, until
from benchmarks.faults.rounds import played, victim

#: Longer than a killed worker's start and the lease of what it held, on a machine short of both.
SETTLED_WITHIN_S = 120.0
#: An act is done within this time; the kill falls somewhere into it.
LONGEST_ACT_S = 0.08


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
    count, over_at = 0, time.monotonic() + within_s
    while count < rounds and time.monotonic() < over_at and not faults:
        count += 1
        line = _round(machine, story, dice)
        answers[f"{line['act']} {line['status']}"] += 1
        if line["done"]:
            acknowledged[line["act"]] += 1
        faults = _settled(machine, begun.edge_token, acknowledged)
        if line["status"] in (0, 500):
            faults.append(f"{line['act']}: {line['said']}")
        yield {"round": count} | line | {"faults": faults}
    yield {
        "rounds": count,
        "seed": seed,
        "restarts": {name: part.restarts for name, part in machine.parts.items()},
        "answers": dict(sorted(answers.items())),
        "faults": faults,
    }


def _round(machine: Rig, story: Any, dice: random.Random) -> dict[str, Any]:
    """One click with a kill in the middle of it, asked again until it is answered."""
    _unless_lost(machine)
    act = story.next()
    name, inside = victim(machine, dice)
    with ThreadPoolExecutor(1) as pool:
        clicked = pool.submit(act.click)
        time.sleep(dice.uniform(0.0, LONGEST_ACT_S))
        machine.kill(name, inside)
        while not clicked.done():
            machine.revive()
            time.sleep(0.05)
        answer = clicked.result()
    machine.until_ready()
    return {
        "act": act.name,
        "killed": f"a process of {name}" if inside else name,
        "status": answer.status,
        "done": answer.done,
        "tries": answer.tries,
        "said": str(answer.body.get("detail", ""))[:200],
    }


def _settled(machine: Rig, edge_token: str, acknowledged: Counter[str]) -> list[str]:
    """Wait for the edge and the sealer, then compare everything with everything."""
    from benchmarks.faults.decisions.agree import disagreements, edge_is_on_the_newest, sealed

    for what, at_rest in (("the edge", edge_is_on_the_newest), ("the sealer", sealed)):
        if not until(_asked_of_what_lives(machine, at_rest), SETTLED_WITHIN_S):
            return [f"{what} did not come to rest in {SETTLED_WITHIN_S} s"]
    return disagreements(machine.machine.url, edge_token, acknowledged)


def _asked_of_what_lives(machine: Rig, ask: Callable[[], bool]) -> Callable[[], bool]:
    from django.db import OperationalError

    def asked() -> bool:
        _unless_lost(machine)
        try:
            return ask()
        except OperationalError:  # a server that has lost a process begins anew meanwhile
            return False

    return asked


def _unless_lost(machine: Rig) -> None:
    """Connections that were killed are made anew by whoever asks next."""
    from django.db import connections

    machine.revive()
    machine.until_ready()
    connections.close_all()


if __name__ == "__main__":
    sys.exit(played(__doc__, _run, {}, rounds=50))
