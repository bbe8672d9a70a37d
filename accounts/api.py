"""The audit trail for machines and exports."""

from dataclasses import fields
from datetime import datetime
from typing import Any

from django.http import StreamingHttpResponse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import sealing
from accounts.exporting import CONTENT_TYPES, exported
from accounts.guard import Actor, Permission, actor_of, products_with, require
from accounts.keys import Purpose, known_keys
from accounts.roles import EVERY_PRODUCT
from accounts.searching import AuditFilter, audit_events
from controlplane.errors import Forbidden
from controlplane.web import paged, streamed


class OffsetTime(serializers.DateTimeField):
    """A moment whose offset from UTC is said; without it nobody knows which moment it is."""

    def enforce_timezone(self, value: datetime) -> datetime:
        if value.tzinfo is None:
            raise serializers.ValidationError("A time carries its offset: 2026-11-30T12:00:00Z.")
        return value


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


class AuditAsked(serializers.Serializer):  # type: ignore[type-arg]
    """The filter; times carry their offset from UTC."""

    product = serializers.CharField(required=False, default="")
    actor = serializers.CharField(required=False, default="")
    person = serializers.CharField(required=False, default="")
    generation = serializers.CharField(required=False, default="")
    segment = serializers.CharField(required=False, default="")
    action = serializers.CharField(required=False, default="")
    text = serializers.CharField(required=False, default="")
    since = OffsetTime(required=False, default=None)
    until = OffsetTime(required=False, default=None)


class ExportAsked(AuditAsked):
    format = serializers.ChoiceField(choices=sorted(CONTENT_TYPES), required=False, default="jsonl")


class VerificationOut(serializers.Serializer):  # type: ignore[type-arg]
    intact = serializers.BooleanField()
    sealed = serializers.IntegerField()
    pending = serializers.IntegerField()
    head = serializers.CharField()
    signed = serializers.IntegerField(help_text="How far a signed head vouches for the chain.")
    signed_head = serializers.CharField(help_text="The newest head, to be kept elsewhere.")
    fault = serializers.CharField()


class Audit(APIView):
    @extend_schema(parameters=[AuditAsked], responses=AuditEventOut(many=True))
    def get(self, request: Request) -> Response:
        actor = reader(request)
        events = audit_events(actor, asked(request, AuditAsked))
        page = paged(events, request.query_params.get("cursor", ""), field="at")
        results = AuditEventOut(page.rows, many=True).data
        return Response({"results": results, "next_cursor": page.next_cursor or None})


class AuditExport(APIView):
    """The sealed events as a file: JSON lines that verify by themselves, or CSV."""

    @extend_schema(parameters=[ExportAsked], responses={(200, "application/x-ndjson"): str})
    def get(self, request: Request) -> StreamingHttpResponse:
        actor, wanted = reader(request), asked(request, ExportAsked)
        form = request.query_params.get("format") or "jsonl"
        parts = exported(actor, wanted, form, timezone.now())
        return streamed(request._request, parts, CONTENT_TYPES[form], f"audit.{form}")


class AuditKeys(APIView):
    """The public keys that signed heads are verified by, those rotated out included."""

    @extend_schema(responses={200: dict[str, dict[str, str]]})
    def get(self, request: Request) -> Response:
        reader(request)
        return Response({"keys": known_keys(Purpose.AUDIT)})


def reader(request: Request) -> Actor:
    """Who asks, if they may read the trail of any product."""
    actor = actor_of(request)
    if not products_with(actor, Permission.AUDIT):
        raise Forbidden("forbidden", "Reading the audit trail needs a role that may.")
    return actor


def asked(request: Request, shape: type[AuditAsked]) -> AuditFilter:
    """The filter of a query; raises 400 naming what can't be read."""
    query = shape(data={name: value for name, value in request.query_params.items() if value})
    query.is_valid(raise_exception=True)
    known = {field.name for field in fields(AuditFilter)}
    return AuditFilter(**{name: v for name, v in query.validated_data.items() if name in known})


class AuditVerification(APIView):
    """Walks the whole hash chain; for those who may read the trail of every product."""

    @extend_schema(responses=VerificationOut)
    def get(self, request: Request) -> Response:
        require(actor_of(request), Permission.AUDIT, EVERY_PRODUCT)
        return Response(VerificationOut(sealing.verify()).data)
