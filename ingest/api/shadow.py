"""Decisions of a candidate beside what was decided, delivered by edges."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission
from ingest.api.batches import BATCH_ID, PRODUCT, BatchOut, receipt
from ingest.deliveries import batch_id_of, body_of, encoding_of, meta_of, sender_of
from ingest.services import SourceKey, accept
from ingest.services.encoding import MAX_BODY
from ingest.states import SourceKind


class Shadow(APIView):
    @extend_schema(
        request={"application/x-ndjson": OpenApiTypes.BINARY},
        responses={202: BatchOut, 200: BatchOut},
        parameters=[BATCH_ID, PRODUCT],
    )
    def post(self, request: Any) -> Response:
        """Deliver decisions, one `orchid.shadow/v1` a line; 202 once they are durable.

        A line is known by publication, request and attempt, and is counted once.
        """
        sender = sender_of(request, Permission.EDGE)
        batch, created = accept(
            sender.product,
            SourceKey(SourceKind.SHADOW, sender.name),
            batch_id_of(request),
            SourceKind.SHADOW,
            body_of(request, MAX_BODY),
            request.content_type or "",
            encoding_of(request),
            meta_of(request),
        )
        return receipt(batch, created)
