"""Kill web, worker, beat and PostgreSQL at random under load; is anything lost?

    python -m benchmarks.faults --rounds 20 --seed 1

One line of JSON a round, then one with what was found. Exits with 1 when anything is wrong.
"""

import random
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.faults.rig import Rig, until
from benchmarks.faults.rounds import played, victim

SENDERS = 8
#: Small, so that senders meet a full inbox too.
SETTINGS = {"ORCHID_INBOX_BATCHES": "60"}
#: Longer than a dead worker's lease, and than the longest wait between two tries.
DRAINED_WITHIN_S = 180.0


def _run(machine: Rig, rounds: int, seed: int, within_s: float) -> Iterator[dict[str, Any]]:
    from benchmarks.faults.load import Load
    from benchmarks.faults.product import seed as seeded

    dice = random.Random(seed)  # noqa: S311 (repeatable, no secret)
    load = Load(machine.machine.url, seeded(), seed)
    machine.start_product()
    load.start(SENDERS)
    count, over_at = 0, time.monotonic() + within_s
    try:
        while count < rounds and time.monotonic() < over_at:
            count += 1
            yield {"round": count} | _round(machine, load, dice)
    finally:
        load.stop()
    yield _summary(machine, load, count, seed)


def _round(machine: Rig, load: Any, dice: random.Random) -> dict[str, Any]:
    time.sleep(dice.uniform(0.5, 3.0))
    name, inside = victim(machine, dice)
    before, began = load.total, time.monotonic()
    machine.kill(name, inside)
    time.sleep(dice.uniform(0.0, 1.0))
    restarted = machine.revive()
    machine.until_ready()
    ready_s = time.monotonic() - began
    goes_on = until(lambda: bool(load.total > before), 60)
    return {
        "killed": f"a process of {name}" if inside else name,
        "restarted": restarted,
        "ready_s": round(ready_s, 2),
        "acknowledged_again_s": round(time.monotonic() - began, 2) if goes_on else None,
        "acknowledged": load.total,
    }


def _summary(machine: Rig, load: Any, rounds: int, seed: int) -> dict[str, Any]:
    from django.db import connections

    from benchmarks.faults.product import judged, waiting

    connections.close_all()
    began = time.monotonic()
    drained = until(lambda: _still_up(machine) and waiting() == 0, DRAINED_WITHIN_S)
    found = judged(load.acknowledged)
    faults = found.faults + [f"given up: {one}" for one in load.given_up[:5]]
    if not drained:
        faults.append(f"{waiting()} still wait after {DRAINED_WITHIN_S} s")
    return {
        "rounds": rounds,
        "seed": seed,
        "restarts": {name: part.restarts for name, part in machine.parts.items()},
        "acknowledged": {kind: len(ids) for kind, ids in load.acknowledged.items()},
        "stored": found.stored,
        "answers": dict(sorted(load.answers.items())),
        "drained_s": round(time.monotonic() - began, 1),
        "faults": faults,
    }


def _still_up(machine: Rig) -> bool:
    machine.revive()
    return True


if __name__ == "__main__":
    sys.exit(played(__doc__, _run, SETTINGS, rounds=20))
