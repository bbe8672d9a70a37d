"""The gated segments that a move concerns, as a search of the audit trail asks for them."""

from collections.abc import Iterable

from policies.models import GatedSegment, Product


def concerned(product: Product, digest: str, names: Iterable[str] | None = None) -> list[str]:
    """Every gated segment of a content, or those named: each by its name and by its key.

    People search by either, `assistant-premium` or `task=assistant|tenant_class=premium`.
    """
    rows = GatedSegment.objects.filter(
        revision__digest=digest, revision__generation__product=product
    )
    if names is not None:
        rows = rows.filter(name__in=names)
    return sorted({text for row in rows for text in (row.name, row.key)})
