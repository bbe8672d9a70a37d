"""Items that reopened a decision, for machines."""

from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission, actor_of
from accounts.idempotency import idempotent
from controlplane.web import paged
from gates.api.asked import visible_product
from gates.models import RevisitItem
from gates.selectors.revisit import revisit_item, revisit_items
from gates.services import revisit as service

STATE = OpenApiParameter("state", str, description="open, acknowledged, resolved, or waiting.")


class RevisitOut(serializers.ModelSerializer[RevisitItem]):
    """`evidence` has the figures, bounds, window and evaluation with which the item opened."""

    class Meta:
        model = RevisitItem
        exclude: ClassVar = ["product"]


class RevisitPage(serializers.Serializer[Any]):
    results = RevisitOut(many=True)
    next_cursor = serializers.CharField(allow_blank=True)


class Acknowledged(serializers.Serializer[Any]):
    expected_version = serializers.IntegerField(min_value=1)


class Resolved(Acknowledged):
    reason = serializers.CharField(max_length=2000)


class Revisits(APIView):
    @extend_schema(responses=RevisitPage, parameters=[STATE])
    def get(self, request: Request, slug: str) -> Response:
        """What reopened a decision, newest first."""
        product = visible_product(request, slug, Permission.VIEW)
        rows = revisit_items(product, request.query_params.get("state", ""))
        page = paged(rows, request.query_params.get("cursor", ""), field="opened_at")
        out = RevisitOut(page.rows, many=True).data
        return Response({"results": out, "next_cursor": page.next_cursor})


class OneRevisit(APIView):
    @extend_schema(responses=RevisitOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """One item with its evidence."""
        product = visible_product(request, slug, Permission.VIEW)
        return Response(RevisitOut(revisit_item(product, pk)).data)


class Acknowledge(APIView):
    @extend_schema(request=Acknowledged, responses=RevisitOut)
    @idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Say that somebody looks into it."""
        row = revisit_item(visible_product(request, slug, Permission.VIEW), pk)
        told = _told(Acknowledged, request)
        moved = service.acknowledge(
            actor_of(request), row.pk, timezone.now(), told["expected_version"]
        )
        return Response(RevisitOut(moved).data)


class Resolve(APIView):
    @extend_schema(request=Resolved, responses=RevisitOut)
    @idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Answer it with a reason; only people with a vote may."""
        row = revisit_item(visible_product(request, slug, Permission.VIEW), pk)
        told = _told(Resolved, request)
        moved = service.resolve(
            actor_of(request), row.pk, timezone.now(), told["reason"], told["expected_version"]
        )
        return Response(RevisitOut(moved).data)


def _told(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    given = serializer(data=request.data)
    given.is_valid(raise_exception=True)
    told: dict[str, Any] = given.validated_data
    return told
