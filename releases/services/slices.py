"""Which edges share what holds for the whole fleet, and by which weights."""

from orchid.engine.admission.slices import grouped
from policies.models import Product
from releases.models import Edge


def slices_of(product: Product) -> dict[str, float]:
    """The weights of the edges in service as a bundle holds them; none where one has the whole."""
    edges = Edge.objects.filter(product=product, retired_at=None, share__gt=0.0)
    weights = dict(edges.values_list("name", "share"))
    return grouped(weights) if len(weights) > 1 else {}
