"""Ten thousand edges that only poll, each some thirty seconds, with the tag of what they run.

What the web process takes of a core while they do, credentials included; the goal is half of one.
Against as many polls of an answer of fixed bytes by the same server without our code.
"""

import time
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.ingest.database import database
from benchmarks.line import Against, Line
from benchmarks.releases import stage

EDGES, FEW = 10_000, 50
EVERY_S = 40.0  # a pause is from a half to the whole of it, as the edge's own
CLIENTS = 2
PEER = "fixed bytes by the same server"


def run(smoke: bool) -> Iterable[Line]:
    count, for_s = (FEW, 3.0) if smoke else (EDGES, 60.0)
    every_s = 1.0 if smoke else EVERY_S
    with database():
        from releases.models import Publication

        made = stage.product()
        tokens = [token for _, token in stage.edges(made, count)]
        tag = Publication.objects.latest("number").etag
        ours = _core("controlplane.asgi:application", tokens, tag, every_s, for_s)
        bare = _core("benchmarks.releases.peers.fixed:application", tokens, tag, every_s, for_s)
    goal = None if smoke else "<= 1"
    note = f"{ours[1]:.0f} polls/s"
    yield Line("releases.polling", ours[0], "cores", Against("half a core", 0.5), goal, note=note)
    yield Line("releases.polling.peer", ours[0], "cores", Against(PEER, bare[0]))


def _core(
    application: str, tokens: list[str], tag: str, every_s: float, for_s: float
) -> tuple[float, float]:
    """Share of a core, and polls a second, while all poll at their full rate."""
    with stage.web(application) as web:
        given = {"port": web.port, "product": stage.PRODUCT, "tag": tag, "every_s": every_s}
        parts = [{**given, "tokens": tokens[n::CLIENTS]} for n in range(CLIENTS)]
        with stage.helpers("benchmarks.releases.polls", parts) as fleet:
            _heard(fleet)
            _tell(fleet)
            time.sleep(every_s)  # each has polled once: its credential was looked up
            _tell(fleet)
            begin, cpu_s = time.monotonic(), web.cpu_s()
            time.sleep(for_s)
            _tell(fleet)
            taken_s, used_s = time.monotonic() - begin, web.cpu_s() - cpu_s
            told = _heard(fleet)
            if refused := sum(one["refused"] for one in told):
                raise RuntimeError(f"{refused} polls got no 304")
            return used_s / taken_s, sum(one["polled"] for one in told) / taken_s


def _tell(fleet: Sequence[stage.Helper]) -> None:
    for one in fleet:
        one.tell()


def _heard(fleet: Sequence[stage.Helper]) -> list[dict[str, Any]]:
    return [one.heard() for one in fleet]
