"""Models that engines tell of and that nobody has named a route for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ingest.selectors import engine_sql
from ingest.selectors.engine_view import asked_of, read
from ingest.selectors.routes import routes_of
from policies.models import Product

_EVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Unmapped:
    """A model with its executions among the newest; the route of the same name is suggested."""

    model: str
    executions: int
    suggestion: str | None


def unmapped(product: Product) -> Sequence[Unmapped]:
    """The busiest first, among as many executions as one view reads."""
    routes = routes_of(product)
    rows = read(engine_sql.UNMAPPED, asked_of(product, None, _EVER))
    return [Unmapped(model, count, _suggestion(model, routes)) for model, count in rows]


def _suggestion(model: str, routes: Sequence[str]) -> str | None:
    """The route called like the model, apart from case, hyphens and the owner before it."""
    named = {_plain(route): route for route in routes}
    return named.get(_plain(model))


def _plain(name: str) -> str:
    return name.rpartition("/")[2].lower().replace("-", "_")
