"""Evidence for machines."""

from typing import Any, ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
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
from gates.selectors.evidence import FILTERS, evidence_of, narrowed, standings
from gates.services import push_evidence_set

NARROWING = [OpenApiParameter(name, str, description="Exactly this value.") for name in FILTERS]


class EvidenceOut(serializers.ModelSerializer[Evidence]):
    """`superseded` is null for what is in force, else why it is not any more."""

    superseded = serializers.SerializerMethodField()
    push = serializers.IntegerField(source="push_id", allow_null=True)

    class Meta:
        model = Evidence
        fields: ClassVar = [
            "id",
            "digest",
            "kind",
            "suite",
            "suite_version",
            "index_version",
            "prompt_version",
            "route",
            "manifest",
            "where",
            "load_state",
            "n",
            "mean",
            "spread",
            "violations",
            "measured_at",
            "push",
            "pushed_by",
            "created_at",
            "superseded",
        ]

    def get_superseded(self, row: Evidence) -> str | None:
        why: str | None = self.context["standings"].get(row.pk)
        return why


class OneEvidenceOut(EvidenceOut):
    """`content` is what was pushed, with the manifest: its digest is over the RFC 8785 form."""

    content = serializers.JSONField()

    class Meta(EvidenceOut.Meta):
        fields: ClassVar = [*EvidenceOut.Meta.fields, "content"]


class EvidenceCells(APIView):
    @extend_schema(responses=EvidenceOut(many=True), parameters=[PRODUCT, *NARROWING])
    def get(self, request: Request, slug: str = "") -> Response:
        """Evidence, newest first, of everything or of what the query names."""
        product = visible_product(request, slug, Permission.VIEW)
        found = narrowed(product, request.query_params.dict())
        page = paged(found, request.query_params.get("cursor", ""))
        context = {"standings": standings(product, page.rows)}
        rows = EvidenceOut(page.rows, many=True, context=context).data
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
        found = [row for row, _ in stored]
        context = {"standings": standings(product, found)}
        rows: Any = EvidenceOut(found, many=True, context=context).data
        return Response({"results": rows, "created": created}, status=201 if created else 200)


class OneEvidence(APIView):
    @extend_schema(responses=OneEvidenceOut, parameters=[PRODUCT])
    def get(self, request: Request, pk: int, slug: str = "") -> Response:
        """One piece with everything that it declared."""
        product = visible_product(request, slug, Permission.VIEW)
        row = evidence_of(product, pk)
        context = {"standings": standings(product, [row])}
        return Response(OneEvidenceOut(row, context=context).data)
