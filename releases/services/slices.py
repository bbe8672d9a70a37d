"""Which edges share what holds for the whole fleet, and by which weights."""

from policies.models import Product
from releases.models import Edge


def slices_of(product: Product) -> dict[str, float]:
    """The weights of the edges in service; empty where one edge has the whole."""
    edges = Edge.objects.filter(product=product, retired_at=None, share__gt=0.0)
    weights = dict(edges.values_list("name", "share"))
    return weights if len(weights) > 1 else {}
