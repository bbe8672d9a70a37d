"""The audit trail for machines and exports."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import sealing, selectors
from accounts.guard import Permission, actor_of, products_with, require
from accounts.roles import EVERY_PRODUCT
from controlplane.errors import Forbidden
from controlplane.web import paged

# In the order of AuditFilter's fields.
FILTERS = ("product", "actor", "action", "text")


class AuditEventOut(serializers.Serializer):  # type: ignore[type-arg]
    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    actor_kind = serializers.CharField()
    actor = serializers.CharField()
    action = serializers.CharField()
    product = serializers.CharField(source="product_slug")
    object_type = serializers.CharField()
    object_id = serializers.CharField()
    digest_before = serializers.CharField()
    digest_after = serializers.CharField()
    reason = serializers.CharField()
    request_id = serializers.CharField()
    data = serializers.JSONField()  # type: ignore[assignment]  # the field's name in the trail
    seal = serializers.SerializerMethodField()

    def get_seal(self, event: Any) -> dict[str, Any] | None:
        """Sequence and hash in the chain; null until sealed."""
        seal = getattr(event, "seal", None)
        return {"seq": seal.seq, "hash": seal.hash} if seal else None


class VerificationOut(serializers.Serializer):  # type: ignore[type-arg]
    intact = serializers.BooleanField()
    sealed = serializers.IntegerField()
    pending = serializers.IntegerField()
    head = serializers.CharField()
    fault = serializers.CharField()


class Audit(APIView):
    @extend_schema(
        parameters=[OpenApiParameter(name, str) for name in (*FILTERS, "cursor")],
        responses=AuditEventOut(many=True),
    )
    def get(self, request: Request) -> Response:
        actor = actor_of(request)
        if not products_with(actor, Permission.AUDIT):
            raise Forbidden("forbidden", "Reading the audit trail needs a role that may.")
        asked = [request.query_params.get(name, "") for name in FILTERS]
        events = selectors.audit_events(actor, selectors.AuditFilter(*asked))
        page = paged(events, request.query_params.get("cursor", ""), field="at")
        results = AuditEventOut(page.rows, many=True).data
        return Response({"results": results, "next_cursor": page.next_cursor or None})


class AuditVerification(APIView):
    """Walks the whole hash chain; for those who may read the trail of every product."""

    @extend_schema(responses=VerificationOut)
    def get(self, request: Request) -> Response:
        require(actor_of(request), Permission.AUDIT, EVERY_PRODUCT)
        return Response(VerificationOut(sealing.verify()).data)
