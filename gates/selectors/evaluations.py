"""One evaluation by its number, and the bytes of its case."""

import zlib

from controlplane.errors import NotFound
from gates.models import CaseBody, Evaluation
from policies.models import Product


def evaluation_of(product: Product, pk: int) -> Evaluation:
    """Raises NotFound, also for an evaluation of another product."""
    found = Evaluation.objects.filter(pk=pk, window__product=product)
    row = found.select_related("window__product").first()
    if row is None:
        raise NotFound("not_found", f"{product.slug} has no evaluation {pk}.")
    return row


def case_bytes(evaluation: Evaluation) -> bytes:
    """The bytes of an evaluation's case; raises NotFound where they are no longer kept."""
    held = CaseBody.objects.filter(digest=evaluation.inputs_digest).values_list("body", flat=True)
    body = held.first()
    if body is None:
        detail = f"The case of evaluation {evaluation.pk} was kept for a day and nobody cited it."
        raise NotFound("case_not_kept", detail)
    return zlib.decompress(bytes(body))
