"""Lines of records as columns of numbers: what is summed, and what bounds are compared with.

Sums are of whole parts (`rollup.parts_of`): microseconds, bytes, tokens, millionths of a TEU, and
1e-12 dollars. Where attempts share a request, their parts add up. What was wasted depends on how a
document judges a line, and is worked out in `work_columns.py`.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
import numpy as np

from orchid.engine.clocks import Clocks
from orchid.engine.document.money import Price
from orchid.engine.known import Floats, Known, Wholes, column, known, wholes
from orchid.engine.priced_by_table import table_usd
from orchid.engine.wire.amounts import TEU_PARTS, USD_PARTS, amount
from orchid.engine.wire.lines import Lines
from orchid.engine.wire.records import DecisionRecord
from orchid.engine.work_columns import Tried, tried_of

_OF_REQUEST = ("first_token_ms", "max_gap_ms", "input_tokens", "cached_input_tokens")
_PLAIN = (
    *_OF_REQUEST,
    "output_tokens",
    "completion_ms",
    "deadline_ms",
    "admission_ms",
    "max_output_tokens",
)
#: A request that nobody decided on reserved nothing.
_NOTHING = DecisionRecord(action="reject")


class LineColumns(NamedTuple):
    """Columns of equal length."""

    arrived_us: Wholes
    at: Clocks
    figures: dict[str, Known]
    teu: Wholes
    usd: Wholes


def numbers_of(lines: Lines) -> dict[str, Floats]:
    """The plain numbers of the requests by name, NaN for what is unknown."""
    return {name: column(name, lines.requests) for name in _PLAIN}


def columns_of(lines: Lines, numbers: Mapping[str, Floats]) -> tuple[LineColumns, Tried]:
    """What is summed of some lines, and their attempts; `numbers` are those of `numbers_of`."""
    told = (*_OF_REQUEST, "output_tokens")
    figures = {name: known(name, numbers[name]) for name in told}
    tried, used = tried_of(lines.attempts)
    figures |= used | _reserved(lines.decisions)
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
        wholes(TEU_PARTS.of(decided)),
        wholes(_priced_parts(lines.attempts)),
    ), tried


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


def _or_infinite(column: Floats) -> Floats:
    return np.where(np.isnan(column), np.inf, column)


def _reserved(decisions: Sequence[Any]) -> dict[str, Known]:
    """What admission reserved: output, and tokens held times the time that they are held."""
    made = [_NOTHING if one is None else one for one in decisions]
    held_ms = column("queue_ms", made) + column("prefill_ms", made) + column("decode_ms", made)
    live = column("live_tokens", made) * held_ms
    return {
        "output_tokens_predicted": known("output_tokens_predicted", column("output_tokens", made)),
        "live_token_ms_predicted": known("live_token_ms_predicted", live),
    }


def priced_parts(
    request: Any, attempts: tuple[Any, ...], prices: Mapping[str, Price]
) -> int | None:
    """What a request's attempts state and what the table says of the others.

    None where the table can't say, so that what they state is all that is known.
    """
    by_table = table_usd(request, attempts, prices, of=_place_of)
    return None if by_table is None else USD_PARTS.exactly(by_table + _sum_of(attempts))


def _place_of(attempt: Any) -> str:
    """Of a loose attempt, whose words stay JSON."""
    words = [bytes(one) for one in (attempt.route, attempt.model)]
    told = [msgspec.json.decode(one, type=str | None) for one in words if one]
    return next((word for word in told if word), "")


def _priced_parts(attempts: Sequence[tuple[Any, ...]]) -> list[int]:
    """Dollars that the attempts of each request stated, as `outcome.priced_usd` sums them."""
    return [
        USD_PARTS[_stated_usd(tried[0])] if len(tried) == 1 else _summed_parts(tried)
        for tried in attempts
    ]


def _summed_parts(attempts: tuple[Any, ...]) -> int:
    return USD_PARTS.exactly(_sum_of(attempts))


def _sum_of(attempts: tuple[Any, ...]) -> Decimal:
    stated = map(_stated_usd, attempts)
    return sum((amount(text) for text in stated if text is not None), Decimal(0))


def _stated_usd(attempt: Any) -> str | None:
    stated: str | None = attempt.external_usd if attempt.cost_usd is None else attempt.cost_usd
    return stated
