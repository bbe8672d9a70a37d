"""Decision diffs over recorded requests for machines."""

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission, actor_of
from accounts.idempotency import idempotent
from controlplane.web import paged
from gates.api.asked import visible_product
from gates.models import DecisionDiff
from gates.selectors.recorded_diff import decision_diff_of, decision_diffs
from gates.services import ask_decision_diff

FILTERS = [
    OpenApiParameter(name, str, description="Only those of this digest.")
    for name in ("base_digest", "digest")
]


class DecisionDiffOut(serializers.ModelSerializer[DecisionDiff]):
    """`content` has the pairs of decisions, segments, tenants and examples once it is done."""

    class Meta:
        model = DecisionDiff
        exclude: ClassVar = ["product", "lease_until", "tries"]


class DecisionDiffAsked(serializers.Serializer[Any]):
    base_digest = serializers.CharField(max_length=80)
    digest = serializers.CharField(max_length=80)


class DecisionDiffPage(serializers.Serializer[Any]):
    results = DecisionDiffOut(many=True)
    next_cursor = serializers.CharField(allow_blank=True)


class DecisionDiffs(APIView):
    @extend_schema(responses=DecisionDiffPage, parameters=FILTERS)
    def get(self, request: Request, slug: str) -> Response:
        """What was asked, newest first."""
        rows = decision_diffs(visible_product(request, slug, Permission.VIEW))
        wanted = {name: request.query_params.get(name) for name in ("base_digest", "digest")}
        rows = rows.filter(**{name: value for name, value in wanted.items() if value})
        page = paged(rows, request.query_params.get("cursor", ""), field="asked_at")
        out = DecisionDiffOut(page.rows, many=True).data
        return Response({"results": out, "next_cursor": page.next_cursor})

    @extend_schema(
        request=DecisionDiffAsked, responses={200: DecisionDiffOut, 202: DecisionDiffOut}
    )
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """Compare two documents on what is recorded: 202 while it is computed, 200 when it is."""
        product = visible_product(request, slug, Permission.PROPOSE)
        wanted = DecisionDiffAsked(data=request.data)
        wanted.is_valid(raise_exception=True)
        row = ask_decision_diff(actor_of(request), product, **wanted.validated_data)
        return Response(DecisionDiffOut(row).data, status=202 if row.is_open else 200)


class OneDecisionDiff(APIView):
    @extend_schema(responses=DecisionDiffOut)
    def get(self, request: Request, slug: str, pk: int) -> Response:
        """One comparison; ask again while its status is queued or running."""
        product = visible_product(request, slug, Permission.VIEW)
        return Response(DecisionDiffOut(decision_diff_of(product, pk)).data)
