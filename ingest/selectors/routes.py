"""The routes of a product, and which of them the models of engines stand for."""

from collections.abc import Callable, Sequence

from django.db.models import QuerySet

from ingest.models import EngineRoute
from orchid.engine.document.model import PolicyDocument
from policies.models import Product, Revision
from policies.selectors import document_of

RouteOf = Callable[[int | None, str], str | None]


def newest_document(product: Product) -> PolicyDocument | None:
    """The newest generation's latest text; None before the first."""
    newest = Revision.objects.filter(generation__product=product)
    digests = newest.order_by("-generation__number", "-number").values_list("digest", flat=True)
    digest = digests.first()
    return None if digest is None else document_of(digest)


def routes_of(product: Product) -> Sequence[str]:
    """The routes of the product's newest document, in its order."""
    document = newest_document(product)
    return () if document is None else tuple(document.models)


def mappings(product: Product) -> QuerySet[EngineRoute]:
    """Every mapping of the product, by model."""
    found = EngineRoute.objects.filter(product=product).select_related("source")
    return found.order_by("model", "source_id")


def route_of(product: Product) -> RouteOf:
    """The route that a source's model stands for; None where nobody mapped it."""
    told = {(row.source_id, row.model): row.route for row in mappings(product)}

    def found(source_pk: int | None, model: str) -> str | None:
        return told.get((source_pk, model)) or told.get((None, model))

    return found
