"""Edges whose clocks were off."""

from datetime import datetime

from ingest.models import Source
from ingest.states import EDGE_KINDS
from policies.models import Product


def edges_off(product: Product, since: datetime) -> list[tuple[str, int]]:
    """Names of edges whose clock was off beyond the bound at or after a moment, with the
    milliseconds it was last off by; positive is ahead of ours."""
    found = Source.objects.filter(product=product, kind__in=EDGE_KINDS, clock_off_at__gte=since)
    rows = found.order_by("name").values_list("name", "clock_skew_ms")
    return [(name, round(skew_ms or 0.0)) for name, skew_ms in rows]
