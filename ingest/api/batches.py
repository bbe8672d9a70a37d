"""Receipts of deliveries: what became of each, and why."""

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from controlplane.web import paged
from ingest import selectors
from ingest.deliveries import reader_of
from ingest.models import Batch

BATCH_ID = OpenApiParameter("Batch-Id", str, OpenApiParameter.HEADER, required=True)
PRODUCT = OpenApiParameter("product", str, description="Needed unless the credential is for one.")


class BatchOut(serializers.ModelSerializer[Batch]):
    """What became of a delivery; `rejected` names each refused line or lost fragment."""

    # A field may be called `source` like any other; the stubs take it for Field.source.
    source = serializers.CharField(source="source.name")  # type: ignore[assignment]

    class Meta:
        model = Batch
        fields: ClassVar = [
            "batch_id",
            "kind",
            "source",
            "status",
            "size",
            "received_at",
            "done_at",
            "counts",
            "rejected",
            "reason",
        ]


def receipt(batch: Batch, created: bool) -> Response:
    """202 for a batch that is now stored, 200 for one that was stored before."""
    return Response(BatchOut(batch).data, status=202 if created else 200)


class OneBatch(APIView):
    @extend_schema(responses=BatchOut, parameters=[PRODUCT])
    def get(self, request: Any, batch_id: str) -> Response:
        """Counts and rejected lines of one delivery."""
        batch = selectors.batch_of(reader_of(request), batch_id=batch_id)
        return Response(BatchOut(batch).data)


class Batches(APIView):
    @extend_schema(responses=BatchOut(many=True), parameters=[PRODUCT])
    def get(self, request: Any) -> Response:
        """Deliveries, newest first."""
        page = paged(
            selectors.batches(reader_of(request)),
            request.query_params.get("cursor", ""),
            field="received_at",
        )
        rows = BatchOut(page.rows, many=True).data
        return Response({"results": rows, "next_cursor": page.next_cursor})
