"""Publications and the way back, for machines."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from releases import serializers as shapes
from releases.api.parts import listed, named_product, taken, visible
from releases.models import Publication
from releases.services import rollback


class Publications(APIView):
    @extend_schema(responses=shapes.PublicationOut(many=True))
    def get(self, request: Request, slug: str | None = None) -> Response:
        rows = Publication.objects.filter(product__in=visible(request, slug))
        return listed(
            request, rows.select_related("product"), shapes.PublicationOut, "published_at"
        )


class Rollbacks(APIView):
    @extend_schema(request=shapes.NewRollback, responses={201: shapes.PublicationOut})
    @idempotent
    def post(self, request: Request, slug: str | None = None) -> Response:
        """201 with the new publication; 200 with the last one where it already is that rollback."""
        data = taken(shapes.NewRollback, request)
        product = named_product(request, slug, data)
        actor = actor_of(request)
        publication, made = rollback.roll_back(actor, product, data["reason"], to=data["to"])
        return Response(shapes.PublicationOut(publication).data, status=201 if made else 200)
