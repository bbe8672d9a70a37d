"""Resident memory over millions of decisions whose ids, tenants and segments are all new."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from benchmarks.engine.reference import reference_policy
from benchmarks.engine.scale import Scale
from benchmarks.engine.traffic import Door
from benchmarks.line import Against, Line
from orchid.engine.admission.request import AdmissionRequest

#: What is remembered on purpose (ended attempts, cells, accounts) is full by then.
FILLED_AFTER = 1_000_000
LIMIT_MB = 8.0
BLOCK = 10_000


def lines(scale: Scale) -> Iterator[Line]:
    """Growth after the bounded memories have filled."""
    if not sys.platform.startswith("linux"):
        return
    door, total = Door(reference_policy()), scale.decisions_kept_flat
    filling = min(FILLED_AFTER, total // 2)
    _decide(door, filling)
    before = _resident_mb()
    _decide(door, total - filling)
    growth = max(0.0, _resident_mb() - before)
    note = f"from {before:.0f} MB after the first {filling:,} of {total:,} decisions"
    yield Line(
        "memory growth", growth, "MB", Against("limit", LIMIT_MB), scale.goal("<= 1"), note=note
    )


def _decide(door: Door, count: int) -> None:
    for begin in range(0, count, BLOCK):
        requests = door.arrivals.take(min(BLOCK, count - begin))
        door.pass_through([_never_seen(request, begin + i) for i, request in enumerate(requests)])


def _never_seen(request: AdmissionRequest, number: int) -> AdmissionRequest:
    """Every other one of a new tenant, every third with a segment that nobody had."""
    changes: dict[str, object] = {}
    if number % 2:
        changes["tenant"] = f"tenant-of-{request.request_id}"
    if number % 3 == 0:
        fresh = {"language": f"language-{request.request_id}", "unknown": request.request_id}
        changes["segment"] = {**request.segment, **fresh}
    return replace(request, **changes)


def _resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
