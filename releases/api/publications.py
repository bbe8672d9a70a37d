"""Publications, for machines."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from controlplane.rest import in_pages, taken
from policies.selectors import generation
from releases import serializers as shapes
from releases.api.parts import named_product, visible
from releases.models import Publication
from releases.selectors.votes import votes_behind
from releases.services.binding import current_revision
from releases.services.publish import bootstrap


class Publications(APIView):
    @extend_schema(responses=shapes.PublicationOut(many=True))
    def get(self, request: Request, slug: str | None = None) -> Response:
        rows = Publication.objects.filter(product__in=visible(request, slug))
        rows = rows.select_related("product").defer("token")
        return in_pages(request, rows, "published_at", _with_votes)

    @extend_schema(request=shapes.FirstPublication, responses={201: shapes.PublicationOut})
    @idempotent
    def post(self, request: Request, slug: str | None = None) -> Response:
        """Bring a product to life: its first publication, which no review could compare."""
        data = taken(shapes.FirstPublication, request)
        product = named_product(request, slug, data)
        first = current_revision(generation(product, data["generation"]))
        made = bootstrap(actor_of(request), product, first, data["reason"])
        return Response(shapes.PublicationOut(made).data, status=201)


def _with_votes(rows: list[Publication]) -> Any:
    """Their votes are read for all at once."""
    context = {"votes": votes_behind(rows)}
    return shapes.PublicationOut(rows, many=True, context=context).data
