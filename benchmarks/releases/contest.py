"""A hundred moves at once on one rollout, all with the version that was on the page: one wins."""

import threading
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from benchmarks.ingest.database import database
from benchmarks.line import Against, Line
from benchmarks.releases import stage

AT_ONCE = 100
#: A connection for each mover, beside those that the server keeps for itself.
ROOM = f"max_connections={AT_ONCE + 50}"
#: Who isn't at the gate by then won't come, and the others don't wait for ever.
GATHERED_S = 60


def run(smoke: bool) -> Iterable[Line]:
    rounds, at_once = (1, 10) if smoke else (5, AT_ONCE)
    with database(ROOM):
        made = stage.product()
        winners, taken_ms = [], []
        for number in range(rounds):
            outcomes, ms = _contest(made, 9_000 + number, at_once)
            if set(outcomes) - {"won", "Conflict"} or outcomes.total() != at_once:
                raise RuntimeError(f"neither won nor told of the conflict: {outcomes}")
            winners.append(outcomes["won"])
            taken_ms.append(ms)
    most = max(winners, key=lambda won: abs(won - 1))
    yield Line("releases.contest.winners", most, "moves", Against("one", 1.0), ">= 1")
    yield Line("releases.contest.winners.most", most, "moves", Against("one", 1.0), "<= 1")
    last = Against("1 s", 1_000.0)
    yield Line("releases.contest.last_answer", max(taken_ms), "ms", last, note=f"{at_once} at once")


def _contest(made: Any, queued: int, at_once: int) -> tuple[Counter[str], float]:
    """What became of each move, and until the last of them was answered."""
    from releases.models import Rollout
    from releases.services.publish import publish
    from releases.services.rollback import roll_back

    publish(stage.actor("dee"), stage.approved(made, queued))
    rollout = Rollout.objects.latest("id")
    gate, outcomes = threading.Barrier(at_once + 1, timeout=GATHERED_S), Counter[str]()
    movers = [
        threading.Thread(target=_move, args=(rollout.pk, rollout.version, gate, outcomes))
        for _ in range(at_once)
    ]
    for mover in movers:
        mover.start()
    gate.wait()
    begin = time.perf_counter()
    for mover in movers:
        mover.join()
    taken_ms = (time.perf_counter() - begin) * 1000
    roll_back(stage.actor("dee"), made, "the next round")
    return outcomes, taken_ms


def _move(pk: int, version: int, gate: threading.Barrier, outcomes: Counter[str]) -> None:
    from django.db import DatabaseError, connection

    from controlplane.errors import Problem
    from releases.models import Rollout
    from releases.services.rollout import pause

    try:
        rollout = Rollout.objects.select_related("product", "publication").get(pk=pk)
        dee = stage.actor("dee")
        connection.close()  # back to the pool: nobody waits at the gate with one in hand
        gate.wait()
        pause(dee, rollout, "measured", expected_version=version)
        outcomes["won"] += 1
    except (Problem, DatabaseError) as refused:
        outcomes[type(refused).__name__] += 1
    finally:
        connection.close()
