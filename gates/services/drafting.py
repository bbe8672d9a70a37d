"""A generation drafted from what a page found: once, however often it is asked for."""

from typing import Any

from django.db import transaction
from django.db.models import OuterRef, Subquery

from accounts.guard import Actor, Permission, require
from policies.models import Product, Revision
from policies.reading import read
from policies.selectors import revision_by_digest
from policies.services import draft_generation

LONGEST_TITLE = 200


@transaction.atomic
def draft_once(
    actor: Actor, product: Product, base_digest: str, document: dict[str, Any], title: str
) -> tuple[Revision, bool]:
    """The document as a draft on its base, and whether it was drafted just now.

    Asked twice, also at once, it is one generation: equal content is not drafted again, unless
    its generation says something else by now.
    """
    require(actor, Permission.PROPOSE, product.slug)
    Product.objects.select_for_update(no_key=True).get(pk=product.pk)
    newest = Revision.objects.filter(generation=OuterRef("generation")).order_by("-number")
    known = Revision.objects.filter(
        generation__product=product,
        digest=read(product.slug, document).digest,
        pk=Subquery(newest.values("pk")[:1]),
    ).first()
    if known is not None:
        return known, False
    base = revision_by_digest(product, base_digest)
    return draft_generation(actor, product, document, title[:LONGEST_TITLE], base), True
