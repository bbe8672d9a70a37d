"""Edges, for machines."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from releases import serializers as shapes
from releases.api.parts import visible
from releases.selectors.edges import edge_facts
from releases.services.issue import latest


class Edges(APIView):
    @extend_schema(responses=shapes.EdgeOut(many=True))
    def get(self, request: Request, slug: str | None = None) -> Response:
        items = [
            {"product": product.slug, **shapes.EdgeOut(fact).data}
            for product in visible(request, slug)
            for fact in edge_facts(product, latest(product))
        ]
        return Response({"items": items, "next_cursor": ""})
