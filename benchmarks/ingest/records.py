"""Request records to durable rows and rollups, by one worker, against COPY of what is ready.

In each round the same requests go four ways, one after the other: as ready text into a plain table
without a key (what the machine can do at all), as the same text into a table by days with its key,
through the inbox and the worker, and by Django's bulk_create. All of it durable, with fsync on.
"""

import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import zstandard

from benchmarks.ingest.database import database
from benchmarks.ingest.traffic import PLAIN, Sent, Traffic, minutes_ago
from benchmarks.line import Against, Line
from benchmarks.rounds import Series

DOCUMENT = Path(__file__).parents[2] / "examples/orchid-serve/generation-1.yaml"
#: Records of one delivery: 24 MB plain and under 6 of the 8 MB that an edge may send as zstd.
BATCH = 20_000
ENCODING = "zstd"
PIECE = 1 << 18
RAW, DAYS, OURS, BULK = "COPY of ready text", "COPY by days with a key", "one worker", "bulk_create"


def run(smoke: bool) -> Iterable[Line]:
    rounds, count = (1, 4_000) if smoke else (10, 100_000)
    with database(), worker() as counting:
        yield from _lines(_measured(counting, rounds, count), counting)


def _measured(counting: "Worker", rounds: int, count: int) -> dict[str, Series]:
    bench = Bench(counting)
    figures: dict[str, list[float]] = {name: [] for name in (RAW, DAYS, OURS, BULK)}
    for number in range(rounds):
        sent = bench.traffic.take(count)
        ways = {
            RAW: lambda sent=sent: bench.copied("bench_plain", sent),
            DAYS: lambda sent=sent: bench.copied("bench_days", sent),
            OURS: lambda sent=sent: bench.counted(sent),
            BULK: lambda sent=sent: bench.created(sent[: len(sent) // 10]),
        }
        for name in reversed(ways) if number % 2 else ways:
            figures[name].append(ways[name]())
    return {name: Series(tuple(values)) for name, values in figures.items()}


def _lines(found: dict[str, Series], counting: "Worker") -> Iterator[Line]:
    ours, raw = found[OURS], found[RAW]
    note = f"{found[DAYS].median / raw.median:.2f} is what {DAYS} alone reaches"
    yield Line(
        "ingest.records.worker",
        ours.median,
        "records/s",
        Against(RAW, raw.median),
        ">= 0.35",
        ours.spread,
        note,
    )
    yield Line(
        "ingest.records.bulk_create",
        ours.median,
        "records/s",
        Against("Django " + BULK, found[BULK].median),
        ">= 15",
        ours.spread,
    )
    yield Line("ingest.records.memory", counting.most_mb, "MB", Against("limit", 400.0), "<= 1")


class Bench:
    """One product, one edge, and the tables of the peers."""

    def __init__(self, counting: "Worker") -> None:
        from django.db import connection

        self.counting, self.connection = counting, connection
        self.product, self.traffic = product_and_traffic()
        self.number = 0
        columns = ", ".join(f'"{name}" {form}' for name, form in PLAIN.items())
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE TABLE bench_plain ({columns})")
            cursor.execute(
                f"CREATE TABLE bench_days ({columns}, UNIQUE (request_id, arrived_at))"
                " PARTITION BY RANGE (arrived_at)"
            )
            cursor.execute("CREATE TABLE bench_all PARTITION OF bench_days DEFAULT")

    def copied(self, table: str, sent: list[Sent]) -> float:
        parts = [
            "".join(f"{one.row}\n" for one in sent[at : at + BATCH]).encode()
            for at in range(0, len(sent), BATCH)
        ]
        begin = time.perf_counter()
        for part in parts:
            with (
                self.connection.cursor() as cursor,
                cursor.copy(f"COPY {table} FROM STDIN") as into,
            ):
                for at in range(0, len(part), PIECE):
                    into.write(part[at : at + PIECE])
        return len(sent) / (time.perf_counter() - begin)

    def counted(self, sent: list[Sent]) -> float:
        pks = [self._delivered(sent[at : at + BATCH]) for at in range(0, len(sent), BATCH)]
        return len(sent) / self.counting.count(pks)

    def _delivered(self, sent: list[Sent]) -> int:
        from ingest.services import SourceKey, accept

        self.number += 1
        key, batch_id = SourceKey("edge", "edge-1"), f"bench-{self.number}"
        batch, _ = accept(self.product, key, batch_id, "edge", self.body(sent), encoding=ENCODING)
        return int(batch.pk)

    def body(self, sent: list[Sent]) -> bytes:
        """What an edge delivers."""
        return zstandard.compress("".join(f"{one.line}\n" for one in sent).encode())

    def created(self, sent: list[Sent]) -> float:
        """The rows as objects are made beforehand: only their way into the table is timed."""
        from benchmarks.ingest.peer_rows import PlainRow, objects_of

        made = objects_of(sent)
        begin = time.perf_counter()
        PlainRow.objects.bulk_create(made, batch_size=1_000)
        return len(sent) / (time.perf_counter() - begin)


def product_and_traffic() -> tuple[Any, Traffic]:
    """The reference product, and requests under its first generation."""
    from accounts.guard import SYSTEM_ACTOR
    from orchid.engine.document.load import load_document
    from policies.services import create_product

    data = DOCUMENT.read_bytes()
    document = load_document(data).document
    product = create_product(SYSTEM_ACTOR, document.product, "Benchmark", document=data)
    return product, Traffic(document, minutes_ago(120), seed=1)


class Worker:
    """A worker process that counts what it is told."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._in: IO[str] = process.stdin  # type: ignore[assignment]
        self._out: IO[str] = process.stdout  # type: ignore[assignment]
        self.most_mb = 0.0
        self._out.readline()  # it is up

    def count(self, pks: Iterable[int]) -> float:
        """Seconds that these batches took."""
        print(*pks, file=self._in, flush=True)
        told = json.loads(self._out.readline())
        self.most_mb = told["most_mb"]
        return float(told["seconds"])


@contextmanager
def worker() -> Iterator[Worker]:
    """Needs a database in the environment."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.ingest.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Worker(process)
    finally:
        process.stdin.close()  # type: ignore[union-attr]
        process.wait()
