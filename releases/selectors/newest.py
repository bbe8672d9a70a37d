"""The publication that the edges of each product are wanted on."""

from django.db.models import QuerySet

from releases.models import Publication


def newest_publications() -> QuerySet[Publication]:
    """One row a product, in the order of their names."""
    newest = Publication.objects.order_by("product_id", "-number").distinct("product_id")
    rows = Publication.objects.filter(pk__in=newest.values("pk")).select_related("product")
    return rows.order_by("product__slug")
