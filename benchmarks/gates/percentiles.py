"""A p95 from rollups beside the exact one over the requests behind it, in four stores.

One day of requests in 200 segments. The rollups are the hourly sheets that a gate reads for a whole
day; the exact figures come from a column of every single completion time, in memory for polars,
DuckDB and our own audit path, in a table for PostgreSQL. In-memory columns are given: only the
question is timed.
"""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from benchmarks.ingest.database import database
from benchmarks.line import Against, Line
from benchmarks.rounds import Round, Series, interleaved, seconds
from orchid.engine.exact import nearest_rank_ms, within
from orchid.engine.histogram import buckets_of
from orchid.engine.histograms import BUCKETS, Entries, Placed, percentile_of, summed, table_of

REQUESTS, SMOKE_REQUESTS = 10_000_000, 40_000
SEGMENTS, HOURS = 200, 24
QUANTILE, BOUND_MS = 0.95, 1500.0
#: One in so many requests never ends whole.
LOST = 400

Times = NDArray[np.float64]


def run(smoke: bool) -> Iterable[Line]:
    """How much sooner, how exact, and what exactness costs."""
    times, segment, hour = _requests(SMOKE_REQUESTS if smoke else REQUESTS)
    sheets = _sheets(times, segment, hour)
    yield from _exactness(times, sheets)
    found = interleaved(_contenders(times, sheets), 2 if smoke else 7)
    ours, fastest = found["rollups"], min(found["polars"].median, found["duckdb"].median)
    name = min(("polars", "duckdb"), key=lambda one: found[one].median)
    yield _times_faster("a p95 of the whole from rollups", ours, name, fastest, ">= 6")
    yield Line(
        "the audit path: an exact p95 over the exported column",
        found["audit"].median * 1e3,
        "ms",
        Against("DuckDB, quantile_disc", found["duckdb"].median * 1e3),
        "<= 1.5",
        found["audit"].spread,
        f"{len(times):,} requests",
    )
    yield _times_faster(
        "a p95 of the whole from rollups", ours, "percentile_disc", _postgres_s(times), ">= 100"
    )


def _times_faster(what: str, ours: Series, name: str, theirs_s: float, goal: str) -> Line:
    """Both as questions a second, so that a ratio above one says how many times sooner."""
    against = Against(f"{name}, exact, {theirs_s * 1e3:.4g} ms", 1 / theirs_s)
    note = f"{ours.median * 1e3:.4g} ms"
    return Line(what, 1 / ours.median, "questions/s", against, goal, ours.spread, note)


def _contenders(times: Times, sheets: list[Placed]) -> dict[str, Round]:
    import duckdb
    import polars

    series = polars.Series("ms", times)
    store = duckdb.connect()
    store.register("given", {"ms": times})
    store.execute("CREATE TABLE requests AS SELECT ms FROM given")
    question = "SELECT quantile_disc(ms, 0.95) FROM requests"
    return {
        "rollups": seconds(lambda: _from_sheets(sheets)),
        "audit": seconds(lambda: nearest_rank_ms(times, QUANTILE)),
        "polars": seconds(lambda: series.quantile(QUANTILE, interpolation="higher")),
        "duckdb": seconds(lambda: store.execute(question).fetchall()),
    }


def _from_sheets(sheets: list[Placed]) -> float | None:
    """Of all segments together: every row is added to one."""
    together = np.zeros(SEGMENTS, dtype=np.int64)
    whole = summed([(histograms, together) for histograms, _ in sheets], 1)
    return percentile_of(whole.bucket, whole.count, QUANTILE)


def _postgres_s(times: Times) -> float:
    """Seconds of one exact question over a table of the same requests."""
    with database():
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("CREATE UNLOGGED TABLE bench_completion (ms double precision)")
            with cursor.copy("COPY bench_completion FROM STDIN (FORMAT binary)") as copy:
                copy.write(_as_copy(times))
            cursor.execute("ANALYZE bench_completion")
            question = "SELECT percentile_disc(0.95) WITHIN GROUP (ORDER BY ms)"
            measure = seconds(lambda: cursor.execute(f"{question} FROM bench_completion"))
            return min(measure(), measure())


def _as_copy(times: Times) -> bytes:
    """Rows of one eight-byte number, as a binary COPY takes them."""
    row = np.dtype([("fields", ">i2"), ("length", ">i4"), ("ms", ">f8")])
    rows = np.empty(len(times), dtype=row)
    rows["fields"], rows["length"], rows["ms"] = 1, 8, times
    return b"PGCOPY\n\xff\r\n\x00" + bytes(8) + rows.tobytes() + b"\xff\xff"


def _exactness(times: Times, sheets: list[Placed]) -> Iterable[Line]:
    """The share within a bound, and how far the percentile shown lies from its rank."""
    whole = summed(sheets, SEGMENTS)
    kept = int(whole.count[whole.bucket <= buckets_of(np.array([BOUND_MS]))[0]].sum())
    exact = within(times, BOUND_MS)
    yield Line(
        f"requests within {BOUND_MS:g} ms by rollups",
        kept,
        "requests",
        Against("counted one by one", exact.within),
    )
    if kept != exact.within:
        raise ValueError("the share within a counted bound is not exact")
    shown = _from_sheets(sheets)
    assert shown is not None
    rank = within(times, shown).share
    assert rank is not None
    yield Line(
        "rank of the p95 shown, away from 0.95",
        abs(rank - QUANTILE),
        "of rank",
        Against("bound", 0.003),
        "<= 1",
        note=f"{shown:g} ms shown, {nearest_rank_ms(times, QUANTILE):g} ms exact",
    )


def _requests(count: int) -> tuple[Times, NDArray[np.int64], NDArray[np.int64]]:
    """Times, segments and hours: log-normal by segment, the busiest by Zipf's law."""
    dice = np.random.default_rng(7)
    weights = 1 / np.arange(1, SEGMENTS + 1)
    segment = dice.choice(SEGMENTS, count, p=weights / weights.sum())
    median = dice.uniform(250, 1100, SEGMENTS)
    times = median[segment] * dice.lognormal(0, 0.35, count)
    times[dice.integers(0, count, count // LOST)] = math.inf
    return times, segment, dice.integers(0, HOURS, count)


def _sheets(times: Times, segment: NDArray[np.int64], hour: NDArray[np.int64]) -> list[Placed]:
    """Each hour's histograms in the form in which sheets hold them."""
    rows, parts = np.arange(SEGMENTS), []
    place = (hour * SEGMENTS + segment) * BUCKETS + buckets_of(times)
    counts = np.bincount(place, minlength=HOURS * SEGMENTS * BUCKETS)
    for table in counts.reshape(HOURS, SEGMENTS, BUCKETS):
        row, bucket = np.nonzero(table)
        entries = Entries(row, bucket, table[row, bucket])
        parts.append((table_of(entries) or entries, rows))
    return parts
