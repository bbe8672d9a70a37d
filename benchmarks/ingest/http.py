"""Request records over HTTP: a web process and a worker as in production, and edges that post.

Two figures: until the last delivery is acknowledged, which is after the commit of the inbox, and
until the last record is counted. Against COPY of ready text into a plain table in the same run.
"""

import http.client
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from benchmarks.ingest.database import database
from benchmarks.ingest.records import BATCH, ENCODING, RAW, Bench, worker
from benchmarks.line import Against, Line
from benchmarks.ports import free_port, wait_for
from benchmarks.rounds import Series

#: Edges that post at the same time.
EDGES = 2


def run(smoke: bool) -> Iterable[Line]:
    rounds, count = (1, 4_000) if smoke else (6, 100_000)
    with database(), worker() as counting:
        bench = Bench(counting)
        token = _token()
        raw, acknowledged, counted = [], [], []
        with _web() as port:
            for number in range(rounds):
                sent = bench.traffic.take(count)
                raw.append(bench.copied("bench_plain", sent))
                bodies = [
                    (f"http-{number}-{at}", bench.body(sent[at : at + BATCH]))
                    for at in range(0, count, BATCH)
                ]
                begin = time.perf_counter()
                with ThreadPoolExecutor(EDGES) as edges:
                    list(edges.map(lambda one: _post(port, token, *one), bodies))
                acknowledged.append(count / (time.perf_counter() - begin))
                counting.count(_waiting())
                counted.append(count / (time.perf_counter() - begin))
        base = Against(RAW, Series(tuple(raw)).median)
        for name, figures, goal in (
            ("ingest.http.acknowledged", acknowledged, ">= 0.3"),
            ("ingest.http.counted", counted, None),
        ):
            series = Series(tuple(figures))
            yield Line(name, series.median, "records/s", base, goal, series.spread)


def _waiting() -> list[int]:
    from ingest.models import Batch

    waiting = Batch.objects.filter(status="received").order_by("pk")
    return list(waiting.values_list("pk", flat=True))


def _token() -> str:
    from accounts.guard import SYSTEM_ACTOR
    from accounts.models import User
    from accounts.services import issue_credential
    from policies.models import Product

    owner = User.objects.create(username="ana")
    slug = Product.objects.get().slug
    return issue_credential(
        SYSTEM_ACTOR, kind="edge", name="edge-1", product_slug=slug, owner=owner
    )[1]


def _post(port: int, token: str, batch_id: str, body: bytes) -> None:
    headers = {
        "Content-Encoding": ENCODING,
        "Authorization": f"Bearer {token}",
        "Batch-Id": batch_id,
        "Content-Type": "application/x-ndjson",
    }
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/api/v1/ingest/requests", body, headers)
    answer = connection.getresponse()
    told = answer.read()
    connection.close()
    if answer.status != 202:
        raise RuntimeError(f"{answer.status}: {told[:300]!r}")


@contextmanager
def _web() -> Iterator[int]:
    port = free_port()
    argv = ["uvicorn", "controlplane.asgi:application", "--no-access-log", "--port", str(port)]
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", *argv, "--log-level", "warning"],
        env=dict(os.environ),
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        yield port
    finally:
        process.terminate()
        process.wait()
