"""Executions in engines, with who else saw them."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from controlplane.web import paged
from ingest import selectors
from ingest.api.batches import PRODUCT
from ingest.deliveries import reader_of

SOURCE = OpenApiParameter("source", str, description="A source's name; default: every source.")


class AttemptOut(serializers.Serializer[selectors.AttemptSeen]):
    """One execution in an engine; `joined` says who else saw it: gateway, client or nobody."""

    source = serializers.CharField(source="attempt.source.name")  # type: ignore[assignment]
    server_run = serializers.CharField(source="attempt.source.server_run")
    attempt_id = serializers.CharField(source="attempt.attempt_id")
    model = serializers.CharField(source="attempt.model")
    parent = serializers.CharField(source="attempt.parent_key")  # type: ignore[assignment]
    started_at = serializers.DateTimeField()
    queue_ms = serializers.FloatField(source="attempt.queue_ms")
    compute_ms = serializers.FloatField(source="attempt.compute_ms")
    request_ms = serializers.FloatField(source="attempt.request_ms")
    exclusive_ms = serializers.FloatField(source="attempt.exclusive_ms")
    outcome = serializers.CharField()
    engine_outcome = serializers.CharField()
    joined = serializers.CharField()
    disagrees = serializers.BooleanField()


class Attempts(APIView):
    @extend_schema(responses=AttemptOut(many=True), parameters=[PRODUCT, SOURCE])
    def get(self, request: Any) -> Response:
        """Engine attempts, newest first, with what the gateway and the client say of them."""
        product = reader_of(request)
        found = selectors.attempts(product)
        if source := request.query_params.get("source"):
            found = found.filter(source__name=source)
        page = paged(
            found,
            request.query_params.get("cursor", ""),
            field="received_at",
        )
        rows = [AttemptOut(row).data for row in selectors.joined(product, page.rows)]
        return Response({"results": rows, "next_cursor": page.next_cursor})
