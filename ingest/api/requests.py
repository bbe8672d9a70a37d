"""Request records of edges: delivered by them, read by whoever may look."""

from typing import Any, ClassVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission
from controlplane.web import paged
from ingest import selectors
from ingest.api.batches import BATCH_ID, PRODUCT, BatchOut, receipt
from ingest.deliveries import batch_id_of, body_of, encoding_of, meta_of, reader_of, sender_of
from ingest.models import RequestRow
from ingest.services import SourceKey, accept
from ingest.services.encoding import MAX_BODY
from ingest.states import SourceKind


class RequestOut(serializers.ModelSerializer[RequestRow]):
    """One logical request as its edge reported it; an unknown value is null."""

    class Meta:
        model = RequestRow
        fields: ClassVar = [
            "request_id",
            "arrived_at",
            "publication",
            "digest",
            "cohort",
            "dims",
            "action",
            "route",
            "reason",
            "outcome",
            "completion_ms",
            "teu",
            "attempt_ids",
        ]


class Requests(APIView):
    @extend_schema(responses=RequestOut(many=True), parameters=[PRODUCT])
    def get(self, request: Any) -> Response:
        """Requests, newest first."""
        page = paged(
            selectors.requests(reader_of(request)),
            request.query_params.get("cursor", ""),
            field="arrived_at",
        )
        rows = RequestOut(page.rows, many=True).data
        return Response({"results": rows, "next_cursor": page.next_cursor})

    @extend_schema(
        request={"application/x-ndjson": OpenApiTypes.BINARY},
        responses={202: BatchOut, 200: BatchOut},
        parameters=[BATCH_ID, PRODUCT],
    )
    def post(self, request: Any) -> Response:
        """Deliver request records, one JSON object a line; 202 once they are durable.

        Verdicts rest on them, so that only an edge's own credential brings them in.
        """
        sender = sender_of(request, Permission.EDGE)
        batch, created = accept(
            sender.product,
            SourceKey(SourceKind.EDGE, sender.name),
            batch_id_of(request),
            SourceKind.EDGE,
            body_of(request, MAX_BODY),
            request.content_type or "",
            encoding_of(request),
            meta_of(request),
        )
        return receipt(batch, created)
