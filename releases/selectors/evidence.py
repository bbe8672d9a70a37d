"""The quality evidence that a content rests on."""

from django.db.models import Q, QuerySet

from gates.models import Evidence
from policies.models import Manifest


def evidence_for(product_id: int, digest: str) -> QuerySet[Evidence]:
    """Evidence on the very models that a content pins: the same route under the same manifest."""
    pinned = Manifest.objects.filter(
        revision__generation__product=product_id, revision__digest=digest
    ).values_list("model", "digest")
    cells = Q(pk__in=[])
    for route, manifest in set(pinned):
        cells |= Q(route=route, manifest=manifest)
    return Evidence.objects.filter(cells, product=product_id).order_by("route", "key", "id")
