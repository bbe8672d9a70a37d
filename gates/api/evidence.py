"""Evidence for machines."""

from typing import ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission, actor_of
from accounts.idempotency import idempotent
from controlplane.errors import BadInput
from controlplane.web import paged
from gates.api.asked import PRODUCT, visible_product
from gates.models import Evidence
from gates.services import push_evidence_set


class EvidenceOut(serializers.ModelSerializer[Evidence]):
    class Meta:
        model = Evidence
        fields: ClassVar = [
            "id",
            "digest",
            "kind",
            "suite",
            "suite_version",
            "route",
            "manifest",
            "where",
            "n",
            "mean",
            "spread",
            "violations",
            "pushed_by",
            "created_at",
        ]


class EvidenceCells(APIView):
    @extend_schema(responses=EvidenceOut(many=True), parameters=[PRODUCT])
    def get(self, request: Request, slug: str = "") -> Response:
        """Evidence, newest first."""
        product = visible_product(request, slug, Permission.VIEW)
        page = paged(product.evidence.all(), request.query_params.get("cursor", ""))
        rows = EvidenceOut(page.rows, many=True).data
        return Response({"results": rows, "next_cursor": page.next_cursor})

    @extend_schema(
        request=OpenApiTypes.OBJECT, responses={201: EvidenceOut(many=True)}, parameters=[PRODUCT]
    )
    @idempotent
    def post(self, request: Request, slug: str = "") -> Response:
        """Push one `orchid.evidence/v1`, or a list of them under `items`; all or nothing."""
        product = visible_product(request, slug, Permission.EVIDENCE_PUSH)
        if not isinstance(request.data, dict):
            raise BadInput("not_an_object", "Evidence is a JSON object.")
        stored = push_evidence_set(actor_of(request), product, request.data)
        created = sum(new for _, new in stored)
        rows = EvidenceOut([row for row, _ in stored], many=True).data
        return Response({"results": rows, "created": created}, status=201 if created else 200)
