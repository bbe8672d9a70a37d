"""What one model call cost, from its stored tokens and the prices of a document."""

from ingest.models import EngineAttempt
from orchid.engine.document.model import PolicyDocument
from orchid.engine.usage import CallCost, Convention, Usage, usage_cost


def usage_of(attempt: EngineAttempt) -> Usage:
    """The stored token counts with the convention they follow."""
    return Usage(
        attempt.input_tokens,
        attempt.cached_input_tokens,
        attempt.cache_write_tokens,
        attempt.output_tokens,
        Convention(attempt.input_convention),
    )


def call_cost(
    attempt: EngineAttempt, document: PolicyDocument | None, route: str | None
) -> CallCost:
    """Dollars by the document's price of the route, else of the model by its own name.

    Unknown, with the reason, where there is no price or no token count; never 0 for want of one.
    """
    prices = {} if document is None else document.prices
    price = prices.get(route or "") or prices.get(attempt.model)
    return usage_cost(price, usage_of(attempt))
