"""What comes from where."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from ingest import selectors
from ingest.api.batches import PRODUCT
from ingest.deliveries import reader_of


class SourceOut(serializers.Serializer[selectors.SourceRow]):
    kind = serializers.CharField(source="source.kind")
    name = serializers.CharField(source="source.name")
    server_run = serializers.CharField(source="source.server_run")
    engine_kind = serializers.CharField(source="source.engine_kind")
    last_seen_at = serializers.DateTimeField(source="source.last_seen_at")
    watermark = serializers.DateTimeField(source="source.watermark")
    anchored = serializers.BooleanField()
    batches = serializers.IntegerField()
    waiting = serializers.IntegerField()
    set_aside = serializers.IntegerField()
    inserted = serializers.IntegerField()
    duplicates = serializers.IntegerField()
    rejected = serializers.IntegerField()
    missing = serializers.IntegerField()


class Sources(APIView):
    @extend_schema(responses=SourceOut(many=True), parameters=[PRODUCT])
    def get(self, request: Any) -> Response:
        """What comes from where."""
        rows = selectors.sources(reader_of(request))
        return Response({"results": [SourceOut(row).data for row in rows]})
