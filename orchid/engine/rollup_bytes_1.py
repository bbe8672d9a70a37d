"""Sheets of version 1, which are rows: MessagePack, a row a cell.

Small deltas are written so, and all sheets of years ago were. It is also the spelling whose hash
says whether an edge sent other content under a key that was counted before.
"""

import zlib
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from itertools import accumulate

import msgspec

from orchid.engine.rollup import EXACT, TEU_STEP, USD_STEP, Figure, Sums
from orchid.engine.rollup_columns import COUNTER_ORDER, PLACE_OF

_MAX_NATIVE = 2**63

Whole = int | str
Sheet = dict[int, Sums]


class _Row(msgspec.Struct, array_like=True, frozen=True):
    cell: int
    records: int
    counters: list[int]
    more: dict[str, int]
    bounds: list[int]
    histogram: list[int]
    figures: list[Whole]
    teu: Whole
    cost: Whole


class _Sheet(msgspec.Struct, array_like=True, frozen=True):
    bounds: list[str]
    figures: list[str]
    rows: list[_Row]


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Sheet)


def spelled(sheet: Mapping[int, Sums]) -> bytes:
    """The sheet before it is deflated; equal sheets give equal bytes."""
    bounds = sorted({key for sums in sheet.values() for key in sums.judged.keys() | sums.within})
    figures = sorted({name for sums in sheet.values() for name in sums.figures})
    rows = [_row(cell, sheet[cell], bounds, figures) for cell in sorted(sheet)]
    return _encoder.encode(_Sheet(bounds, figures, rows))


def read(data: bytes) -> Sheet:
    """The sheet that was spelled and deflated."""
    sheet = _decoder.decode(zlib.decompress(data))
    return {row.cell: _sums(row, sheet.bounds, sheet.figures) for row in sheet.rows}


def _row(cell: int, sums: Sums, bounds: list[str], figures: list[str]) -> _Row:
    pairs = [(sums.within.get(key, 0), sums.judged.get(key, 0)) for key in bounds]
    known = [sums.figures.get(name, Figure()) for name in figures]
    return _Row(
        cell=cell,
        records=sums.records,
        counters=_trimmed([sums.counters.get(name, 0) for name in COUNTER_ORDER]),
        more={name: n for name, n in sorted(sums.counters.items()) if n and name not in PLACE_OF},
        bounds=_trimmed([count for pair in pairs for count in pair]),
        histogram=_distances(sums.histogram),
        figures=[_whole(n) for one in known for n in (one.count, one.total, one.maximum)],
        teu=_whole(_steps(sums.teu, TEU_STEP)),
        cost=_whole(_steps(sums.cost_usd, USD_STEP)),
    )


def _sums(row: _Row, bounds: list[str], figures: list[str]) -> Sums:
    judged = dict(zip(bounds, row.bounds[1::2], strict=False))
    within = dict(zip(bounds, row.bounds[0::2], strict=False))
    threes = zip(figures, row.figures[0::3], row.figures[1::3], row.figures[2::3], strict=True)
    return Sums(
        counters=_counter(dict(zip(COUNTER_ORDER, row.counters, strict=False)) | row.more),
        histogram=_buckets(row.histogram),
        within=_counter(within),
        judged=_counter(judged),
        figures={
            name: Figure(int(count), int(total), int(top))
            for name, count, total, top in threes
            if count
        },
        teu=_amount(row.teu, TEU_STEP),
        cost_usd=_amount(row.cost, USD_STEP),
        records=row.records,
    )


def _counter(counts: Mapping[str, int]) -> Counter[str]:
    return Counter({name: count for name, count in counts.items() if count})


def _trimmed(counts: list[int]) -> list[int]:
    while counts and not counts[-1]:
        counts.pop()
    return counts


def _distances(histogram: Mapping[int, int]) -> list[int]:
    """Distance to the bucket before, count, and so on: small numbers, which take one byte each."""
    flat: list[int] = []
    before = 0
    for bucket in sorted(histogram):
        if histogram[bucket]:
            flat += (bucket - before, histogram[bucket])
            before = bucket
    return flat


def _buckets(flat: list[int]) -> Counter[int]:
    return Counter(dict(zip(accumulate(flat[0::2]), flat[1::2], strict=True)))


def _steps(amount: Decimal, step: Decimal) -> int:
    return int(EXACT.divide(amount, step))


def _amount(steps: Whole, step: Decimal) -> Decimal:
    return EXACT.multiply(Decimal(steps), step)


def _whole(number: int) -> Whole:
    """MessagePack has no whole number beyond 64 bits; those few are spelled."""
    return number if number < _MAX_NATIVE else str(number)
