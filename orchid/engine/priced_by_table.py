"""What attempts cost by the document's price table, where they state no price themselves.

Only an attempt at a priced route is priced so, and only from tokens that were told: its input is
the request's, its output its own, or the request's where it is the last. An earlier attempt can't
be priced once any tokens were cached, since a request tells those once. What is missing makes the
price unknown; nothing is guessed.
"""

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from orchid.engine.document.money import Price
from orchid.engine.usage import Usage, convention_of, usage_cost
from orchid.engine.wire.records import RequestRecord

#: A price that any tokens can be held against, to learn whether they were told.
_ANY = Price(input_usd_per_million=Decimal(0), output_usd_per_million=Decimal(0))
PlaceOf = Callable[[Any], str]


def place_of(attempt: Any) -> str:
    """Where an attempt ran: its route, else its model."""
    return attempt.route or attempt.model or ""


def table_usd(
    request: Any, attempts: tuple[Any, ...], prices: Mapping[str, Price], of: PlaceOf = place_of
) -> Decimal | None:
    """Dollars of the attempts that the table prices; None where one of them told too little."""
    total = Decimal(0)
    for place, usage in _unstated(request, attempts, of):
        if place in prices:
            cost = usage_cost(prices[place], usage)
            if cost.usd is None:
                return None
            total += cost.usd
    return total


def untold_places(record: RequestRecord) -> frozenset[str]:
    """Where attempts ran that state no price and told too little to be priced by any table."""
    told = _unstated(record, record.attempts, place_of)
    return frozenset(place for place, usage in told if usage_cost(_ANY, usage).usd is None)


def _unstated(request: Any, attempts: tuple[Any, ...], of: PlaceOf) -> Iterator[tuple[str, Usage]]:
    """Attempts without a price that called nobody outside: those have a price of their own."""
    for number, attempt in enumerate(attempts, start=1):
        stated = attempt.cost_usd is not None or attempt.external_usd is not None
        if not stated and not attempt.external_calls:
            yield of(attempt), _usage(request, attempt, is_last=number == len(attempts))


def _usage(request: Any, attempt: Any, *, is_last: bool) -> Usage:
    cached, written = request.cached_input_tokens, request.cache_write_tokens
    convention = convention_of(request.input_convention, request.input_tokens, cached, written)
    output = attempt.useful_tokens
    if is_last:
        output = request.output_tokens if request.output_tokens is not None else output
    elif cached or written:
        output = None
    return Usage(request.input_tokens, cached, written, output, convention)
