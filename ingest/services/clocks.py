"""Clocks of edges that are off: requests of such an edge may be counted in another step."""

from datetime import datetime, timedelta

from ingest.models import Source
from ingest.states import EDGE_KINDS
from orchid.engine.verdict.validity import CLOCK_BOUND
from policies.models import Product


def note_skew(product: Product, edge: str, skew_ms: float, at: datetime) -> bool:
    """Keep that the edge's clock was off at the moment, where it was beyond the bound.

    Positive is ahead of ours. Returns whether that was kept.
    """
    if abs(skew_ms) <= CLOCK_BOUND / timedelta(milliseconds=1):
        return False
    sources = Source.objects.filter(product=product, kind__in=EDGE_KINDS, name=edge)
    older = sources.exclude(clock_off_at__gte=at)
    return bool(older.update(clock_skew_ms=skew_ms, clock_off_at=at))
