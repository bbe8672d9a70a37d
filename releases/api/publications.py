"""Publications, for machines."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from releases import serializers as shapes
from releases.api.parts import listed, visible
from releases.models import Publication


class Publications(APIView):
    @extend_schema(responses=shapes.PublicationOut(many=True))
    def get(self, request: Request, slug: str | None = None) -> Response:
        rows = Publication.objects.filter(product__in=visible(request, slug))
        return listed(
            request, rows.select_related("product"), shapes.PublicationOut, "published_at"
        )
