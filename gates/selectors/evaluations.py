"""One evaluation by its number."""

from controlplane.errors import NotFound
from gates.models import Evaluation
from policies.models import Product


def evaluation_of(product: Product, pk: int) -> Evaluation:
    """Raises NotFound, also for an evaluation of another product."""
    found = Evaluation.objects.filter(pk=pk, window__product=product)
    row = found.select_related("window__product").first()
    if row is None:
        raise NotFound("not_found", f"{product.slug} has no evaluation {pk}.")
    return row
