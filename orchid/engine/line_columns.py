"""Lines of records as columns of numbers: what is summed, and what bounds are compared with.

Sums are of whole parts (`rollup.parts_of`): microseconds, bytes, tokens, millionths of a TEU, and
1e-12 dollars. Where attempts share a request, their parts add up.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from orchid.engine.clocks import Clocks
from orchid.engine.rollup import FIGURES
from orchid.engine.wire.amounts import TEU_PARTS, USD_PARTS, amount
from orchid.engine.wire.lines import Lines

Floats = NDArray[np.float64]
#: 64 bits, or Python's own numbers where an absurd amount needs them.
Wholes = NDArray[Any]
Mask = NDArray[np.bool_]

_SAFE = 1 << 40
"""A sum of a million such numbers still has 64 bits."""

_OF_REQUEST = ("first_token_ms", "max_gap_ms", "input_tokens", "cached_input_tokens")
_PLAIN = (
    *_OF_REQUEST,
    "output_tokens",
    "completion_ms",
    "deadline_ms",
    "admission_ms",
    "max_output_tokens",
)
_SUMMED = ("queue_ms", "live_token_ms", "transfer_bytes", "preemptions")
_TEU = ("teu_predicted", "teu_observed")


class Known(NamedTuple):
    """One figure of every request: its parts, and whether it was told at all."""

    parts: Wholes
    told: Mask


class LineColumns(NamedTuple):
    """Columns of equal length."""

    arrived_us: Wholes
    at: Clocks
    figures: dict[str, Known]
    teu: Wholes
    usd: Wholes


def numbers_of(lines: Lines) -> dict[str, Floats]:
    """The plain numbers of the requests by name, NaN for what is unknown."""
    return {name: _column(name, lines.requests) for name in _PLAIN}


def columns_of(lines: Lines, numbers: Mapping[str, Floats]) -> LineColumns:
    """What is summed of some lines; `numbers` are those of `numbers_of`."""
    told = (*_OF_REQUEST, "output_tokens")
    figures = {name: _known(name, numbers[name]) for name in told}
    figures |= _worked(lines.attempts)
    decided = [None if one is None else one.teu for one in lines.decisions]
    return LineColumns(
        np.array(lines.arrived_us, dtype=np.int64),
        Clocks(
            numbers["first_token_ms"],
            numbers["max_gap_ms"],
            numbers["completion_ms"],
            _or_infinite(numbers["output_tokens"]),
            _or_infinite(numbers["deadline_ms"]),
        ),
        figures,
        _wholes(TEU_PARTS.of(decided)),
        _wholes(_priced_parts(lines.attempts)),
    )


def joined(parts: Sequence[LineColumns]) -> LineColumns:
    """One after another as one; at least one is needed."""
    names = parts[0].figures
    return LineColumns(
        np.concatenate([one.arrived_us for one in parts]),
        Clocks(*(np.concatenate(columns) for columns in zip(*(o.at for o in parts), strict=True))),
        {
            name: Known(
                np.concatenate([one.figures[name].parts for one in parts]),
                np.concatenate([one.figures[name].told for one in parts]),
            )
            for name in names
        },
        np.concatenate([one.teu for one in parts]),
        np.concatenate([one.usd for one in parts]),
    )


def _column(name: str, objects: Iterable[Any]) -> Floats:
    """A field of each as a number, NaN for None."""
    return np.array(list(map(attrgetter(name), objects)), dtype=np.float64)


def _or_infinite(column: Floats) -> Floats:
    return np.where(np.isnan(column), np.inf, column)


def _known(name: str, column: Floats) -> Known:
    """Parts of floats are rounded half to even, as `parts_of` does."""
    told = ~np.isnan(column)
    return Known(np.rint(np.where(told, column, 0.0) * FIGURES[name]).astype(np.int64), told)


def _worked(attempts: Sequence[tuple[Any, ...]]) -> dict[str, Known]:
    """What the attempts of each request add up to."""
    tried = list(chain.from_iterable(attempts))
    sizes = np.fromiter(map(len, attempts), dtype=np.int64, count=len(attempts))
    each = {name: _known(name, _column(name, tried)) for name in _SUMMED}
    taken = _column("released_ms", tried) - _column("cancel_requested_ms", tried)
    each["cancel_to_release_ms"] = _known("cancel_to_release_ms", np.maximum(taken, 0.0))
    for name in _TEU:
        texts = list(map(attrgetter(name), tried))
        told = np.array([text is not None for text in texts], dtype=np.bool_)
        each[name] = Known(_wholes(TEU_PARTS.of(texts)), told)
    return {name: _by_request(known, sizes) for name, known in each.items()}


def _by_request(known: Known, sizes: Wholes) -> Known:
    """Sums over each request's attempts; of none, nothing is told."""
    if len(known.parts) == len(sizes) and (sizes == 1).all():
        return known
    parts = np.zeros(len(sizes), dtype=known.parts.dtype)
    told = np.zeros(len(sizes), dtype=np.bool_)
    some = sizes > 0
    if some.any():
        starts = (np.cumsum(sizes) - sizes)[some]
        parts[some] = np.add.reduceat(known.parts, starts)
        told[some] = np.logical_or.reduceat(known.told, starts)
    return Known(parts, told)


def _priced_parts(attempts: Sequence[tuple[Any, ...]]) -> list[int]:
    """Dollars that the attempts of each request stated, as `outcome.priced_usd` sums them."""
    return [
        USD_PARTS[_stated_usd(tried[0])] if len(tried) == 1 else _summed_parts(tried)
        for tried in attempts
    ]


def _summed_parts(attempts: tuple[Any, ...]) -> int:
    stated = map(_stated_usd, attempts)
    total = sum((amount(text) for text in stated if text is not None), Decimal(0))
    return USD_PARTS.exactly(total)


def _stated_usd(attempt: Any) -> str | None:
    stated: str | None = attempt.external_usd if attempt.cost_usd is None else attempt.cost_usd
    return stated


def _wholes(values: list[int]) -> Wholes:
    largest = max(values, default=0)
    return np.array(values, dtype=np.int64 if largest < _SAFE else object)
