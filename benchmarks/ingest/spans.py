"""OTLP spans: how fast bodies become durable rows, and rows the attempts they tell of.

The spans are those of the recorded run under new ids. Raw COPY writes the very rows that the store
writes, as text that is ready in memory, into a plain table without a key, in as many transactions.
"""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.ingest.database import database
from benchmarks.line import Against, Line
from benchmarks.rounds import Round, Series, interleaved

if TYPE_CHECKING:
    from ingest.services import SourceKey
    from policies.models import Product

RECORDED = Path(__file__).parents[2] / "examples/recordings/run2/otlp"
DOCUMENT = Path(__file__).parents[2] / "examples/orchid-demo/generation-1.yaml"
#: Spans a body: what OpenTelemetry's collector sends by default, and what Triton sends at most.
COLLECTOR, TRITON = 8_192, 512
_COLUMNS = "day, source_id, trace_id, span_id, service, body"


def run(smoke: bool) -> Iterable[Line]:
    with database():
        sender = _sender()
        for size, goal in ((COLLECTOR, ">= 0.3"), (TRITON, None)):
            bodies = list(bodies_of(2_048 if smoke else 65_536, 256 if smoke else size))
            found = interleaved(_contenders(bodies, sender), 2 if smoke else 9)
            yield _stored(found, min(size, 256) if smoke else size, goal)
        yield _derived(bodies, sender)


def bodies_of(spans: int, size: int) -> Iterator[bytes]:
    """Protobuf bodies of `size` spans each, whole requests with ids of their own, of today."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    recorded = _recorded()
    shift = time.time_ns() - max(span.end_time_unix_nano for span in recorded)
    dice = random.Random(7)  # noqa: S311 - ids, not secrets
    drawn = (one for _ in iter(int, 1) for one in _copy(recorded, shift, dice))
    for _ in range(spans // size):
        request = ExportTraceServiceRequest()
        group = request.resource_spans.add()
        service = group.resource.attributes.add(key="service.name")
        service.value.string_value = "triton-inference-server"
        group.scope_spans.add().spans.extend(next(drawn) for _ in range(size))
        yield request.SerializeToString()


def _recorded() -> list[Any]:
    from opentelemetry.proto.trace.v1.trace_pb2 import Span

    from orchid.formats import otlp

    readings = (otlp.read_json(path.read_bytes()) for path in sorted(RECORDED.iterdir()))
    return [Span.FromString(one.body) for reading in readings for one in reading.records]


def _copy(recorded: Sequence[Any], shift: int, dice: random.Random) -> Iterator[Any]:
    traces: dict[bytes, bytes] = {}
    spans: dict[bytes, bytes] = {}
    for original in recorded:
        span = type(original)()
        span.CopyFrom(original)
        span.trace_id = traces.setdefault(span.trace_id, dice.randbytes(16))
        span.span_id = spans.setdefault(span.span_id, dice.randbytes(8))
        if span.parent_span_id:
            span.parent_span_id = spans.setdefault(span.parent_span_id, dice.randbytes(8))
        span.start_time_unix_nano += shift
        span.end_time_unix_nano += shift
        for event in span.events:
            event.time_unix_nano += shift
        yield span


def _sender() -> "tuple[Product, SourceKey]":
    from accounts.guard import SYSTEM_ACTOR
    from ingest.services import SourceKey
    from policies.services import create_product

    product = create_product(SYSTEM_ACTOR, "orchid-demo", "Demo", document=DOCUMENT.read_bytes())
    return product, SourceKey("otlp", "triton-1")


def _contenders(bodies: Sequence[bytes], sender: "tuple[Product, SourceKey]") -> dict[str, Round]:
    from ingest.services.spans import store_spans
    from orchid.formats.otlp import read_protobuf

    texts = [_text_rows(body) for body in bodies]
    count = sum(len(read_protobuf(body).records) for body in bodies)

    def ours() -> None:
        for body in bodies:
            store_spans(*sender, read_protobuf(body))

    def decoding() -> None:
        for body in bodies:
            read_protobuf(body)

    def raw() -> None:
        for text in texts:
            _copy_raw(text)

    works = {"ours": ours, "decoding": decoding, "raw": raw}
    return {name: _emptied(work, count) for name, work in works.items()}


def _emptied(work: Callable[[], None], count: int) -> Round:
    """Spans a second into empty tables; emptying them is not timed."""
    from django.db import connection

    def measured() -> float:
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE ingest_span, ingest_touchedtraces")
            cursor.execute("DROP TABLE IF EXISTS raw_span")
            cursor.execute(f"CREATE TABLE raw_span AS SELECT {_COLUMNS} FROM ingest_span")  # noqa: S608
        begin = time.perf_counter()
        work()
        return count / (time.perf_counter() - begin)

    return measured


def _text_rows(body: bytes) -> bytes:
    """What the store writes for a body, in COPY's text."""
    from orchid.formats.otlp import read_protobuf

    today = time.strftime("%Y-%m-%d", time.gmtime())
    return b"".join(
        b"%s\t1\t%s\t%d\t%s\t\\\\x%s\n"
        % (
            today.encode(),
            span.trace_id.hex().encode(),
            int.from_bytes(span.span_id, "big", signed=True),
            span.service.encode(),
            span.body.hex().encode(),
        )
        for span in read_protobuf(body).records
    )


def _copy_raw(text: bytes) -> None:
    from django.db import connection, transaction

    statement = f"COPY raw_span ({_COLUMNS}) FROM STDIN"
    with transaction.atomic(), connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(text)


def _stored(found: dict[str, Series], size: int, goal: str | None) -> Line:
    decoding = found["decoding"].median
    return Line(
        f"OTLP protobuf spans decoded and stored, {size} a body",
        found["ours"].median,
        "spans/s",
        Against("raw COPY of the same rows as text", found["raw"].median),
        goal,
        found["ours"].spread,
        note=f"decoding alone {decoding:.0f} spans/s; a transaction a body, fsync on"
        + ("" if goal else "; the goal is judged at a collector's size"),
    )


def _derived(bodies: Sequence[bytes], sender: "tuple[Product, SourceKey]") -> Line:
    """The worker's part, once, behind the request: from stored spans to attempts."""
    from ingest.models import EngineAttempt, EngineSpan, Source
    from ingest.services.derived import derive
    from ingest.services.spans import store_spans
    from orchid.formats.otlp import read_protobuf

    for body in bodies:
        store_spans(*sender, read_protobuf(body))
    spans = EngineSpan.objects.values("trace_id").count()
    begin = time.perf_counter()
    derive(Source.objects.get(name="triton-1").pk)
    took = timedelta(seconds=time.perf_counter() - begin)
    return Line(
        "stored spans to attempts, one worker",
        spans / took.total_seconds(),
        "spans/s",
        Against("spans of a request", spans / EngineAttempt.objects.filter(parent_key="").count()),
        note=f"{EngineAttempt.objects.count()} attempts; the sender does not wait for it",
    )
