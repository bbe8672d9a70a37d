"""What edges said that they hold, and whether that may still be believed.

An edge may be heard for hours, by its polls or its stream, while its reports fail: then it has said
nothing of what it holds, and a count of long ago is no evidence.
"""

from datetime import datetime

from django.db import connection
from django.db.models import Q

from policies.models import Product
from releases.edge_reports import counts_for
from releases.models import Edge


def open_sequences(product: Product) -> dict[str, int]:
    """Sequences still running, by the digest they began under, summed over the edges."""
    # Summed by the database: a publish asks while it holds the product, of however many edges.
    with connection.cursor() as cursor:
        cursor.execute(_OPEN, [product.pk])
        return dict(cursor.fetchall())


def told_since(now: datetime) -> datetime:
    """Since when an edge must have told: the more edges there are, the rarer each is asked."""
    return now - counts_for(Edge.objects.filter(retired_at=None).count())


def is_told(edge: Edge, counts_from: datetime) -> bool:
    """Whether the edge has told of late what it holds."""
    seen = getattr(edge, "seen", None)
    return bool(seen and seen.reported_at and seen.reported_at >= counts_from)


def untold(product: Product, now: datetime) -> bool:
    """Whether some edge in service may hold what nobody knows of."""
    telling = Q(seen__reported_at__gte=told_since(now), seen__active_publication__isnull=False)
    return Edge.objects.filter(product=product, retired_at=None).exclude(telling).exists()


_OPEN = """
SELECT open.key, sum(open.value::bigint)::bigint
FROM releases_edge e
JOIN releases_edgeseen s ON s.edge_id = e.id
CROSS JOIN LATERAL jsonb_each_text(s.open_sequences) open
WHERE e.product_id = %s AND e.retired_at IS NULL GROUP BY open.key
"""
