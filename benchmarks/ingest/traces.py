"""Triton trace files: how fast they are read, how fast they become rows, and in what memory.

The objects are those of the recorded run, with other ids in each copy. A file of two gigabytes is
cut, delivered and counted by one process of its own, so that what it holds at most is the memory
of the sender and of the worker together. SIZE_MB=300 in the environment takes a smaller file.
"""

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import orjson

from benchmarks.ingest.database import database
from benchmarks.line import Against, Line
from benchmarks.rounds import interleaved, seconds
from orchid.cli.ingest.parts import parts
from orchid.formats.triton_trace import TraceReader

RECORDED = Path(__file__).parents[2] / "examples/recordings/run1/trace"
DOCUMENT = Path(__file__).parents[2] / "examples/orchid-demo/generation-1.yaml"
MB = 1024 * 1024
MOST_MB = 400
FULL_MB = 2048
_ID = re.compile(rb'"(?:parent_)?id":(\d+)')


def run(smoke: bool) -> Iterable[Line]:
    yield _reading(2 if smoke else 32, 2 if smoke else 9)
    with tempfile.TemporaryDirectory(prefix="orchid-bench-") as place:
        file = Path(place) / "trace.json"
        megabytes = 6 if smoke else int(os.environ.get("SIZE_MB", FULL_MB))
        with file.open("wb") as opened:
            for piece in recorded(megabytes * MB):
                opened.write(piece)
        with database():
            yield from _storing(file, megabytes)


def recorded(size: int) -> Iterator[bytes]:
    """A file of about this size, by pieces: the recorded objects again and again."""
    files = sorted(RECORDED.iterdir())
    objects = b",".join(path.read_bytes().strip()[1:-1] for path in files)
    numbers = [int(found) for found in _ID.findall(objects)]
    form = _ID.sub(lambda found: found[0][: -len(found[1])] + b"%d", objects.replace(b"%", b"%%"))
    copies = max(1, size // len(objects))
    for copy in range(copies):
        first = copy * (max(numbers) + 1)
        yield (b"," if copy else b"[") + form % tuple(number + first for number in numbers)
    yield b"]"


def _reading(megabytes: int, rounds: int) -> Line:
    body = b"".join(recorded(megabytes * MB))
    times = interleaved(
        {"ours": seconds(lambda: _read(body)), "orjson": seconds(lambda: orjson.loads(body))},
        rounds,
    )
    speed = {name: len(body) / MB / found.median for name, found in times.items()}
    return Line(
        "trace file, read and joined by id",
        speed["ours"],
        "MB/s",
        Against("orjson.loads of the same bytes", speed["orjson"]),
        ">= 0.5",
        times["ours"].spread,
        note=f"{len(body) / MB:.0f} MB in one body",
    )


def _read(body: bytes) -> int:
    reader = TraceReader()
    reader.feed(body)
    return len(reader.close())


def _storing(file: Path, megabytes: int) -> Iterator[Line]:
    command = [sys.executable, "-m", "benchmarks.ingest.traces", str(file)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    told = json.loads(done.stdout.splitlines()[-1])
    note = f"{megabytes} MB in {told['parts']} parts, {told['executions']} executions"
    yield Line(
        "memory of a sender and a worker over one trace file",
        told["peak_mb"],
        "MB",
        Against("bound", MOST_MB),
        "<= 1",
        note=note,
    )
    yield Line(
        "trace file to rows, durably",
        told["executions"] / told["worked_s"],
        "executions/s",
        Against("COPY of the same rows", told["executions"] / _copied_s(told["executions"])),
        note=note,
    )


def _copied_s(rows: int) -> float:
    """Seconds that PostgreSQL takes to COPY the rows that are there into a like table, as text."""
    from django.db import connection, transaction

    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE copied (LIKE ingest_engineattempt INCLUDING DEFAULTS INCLUDING INDEXES)"
        )
        with cursor.copy("COPY ingest_engineattempt TO STDOUT") as copy:
            lines = [bytes(line) for line in copy]
        begin = time.perf_counter()
        with transaction.atomic(), cursor.copy("COPY copied FROM STDIN") as copy:
            for line in lines:
                copy.write(line)
        return (time.perf_counter() - begin) * rows / len(lines)


def _work(file: Path) -> None:
    """Deliver and count a file, in a process that does nothing else."""
    import django

    django.setup()
    from accounts.guard import SYSTEM_ACTOR
    from ingest.services import SourceKey, accept, process
    from policies.services import create_product

    slug = "orchid-demo"
    product = create_product(SYSTEM_ACTOR, slug, slug, document=DOCUMENT.read_bytes())
    key = SourceKey("triton_trace", "triton", "run")
    count = executions = 0
    begin = time.perf_counter()
    with file.open("rb") as opened:
        for count, part in enumerate(parts(opened, "triton_trace"), 1):
            batch, _ = accept(product, key, f"part-{count}", "triton_trace", part.content)
            process(batch.pk)
            batch.refresh_from_db()
            executions += batch.counts["inserted"]
    told = {
        "worked_s": time.perf_counter() - begin,
        "parts": count,
        "executions": executions,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    _work(Path(sys.argv[1]))
