"""What comes from where."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from ingest import selectors
from ingest.api.batches import PRODUCT
from ingest.deliveries import reader_of
from ingest.selectors.sources import Refusal


class RefusalOut(serializers.Serializer[Refusal]):
    """Pieces refused for one reason; place, message and batch are those of the newest."""

    code = serializers.CharField()
    count = serializers.IntegerField()
    where = serializers.CharField()
    message = serializers.CharField()
    batch = serializers.IntegerField()


class SourceOut(serializers.Serializer[selectors.SourceRow]):
    """`lag_ms` is from the newest delivery's arrival until it was counted."""

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
    dropped_text = serializers.IntegerField(source="tally.dropped_text")
    stored_per_minute = serializers.FloatField(source="per_minute")
    lag_ms = serializers.FloatField(source="tally.lag_ms")
    watermark_age_s = serializers.FloatField()
    silent = serializers.BooleanField(source="is_silent")
    refusals = RefusalOut(many=True)


class Sources(APIView):
    @extend_schema(responses=SourceOut(many=True), parameters=[PRODUCT])
    def get(self, request: Any) -> Response:
        """What comes from where."""
        rows = selectors.sources(reader_of(request))
        return Response({"results": [SourceOut(row).data for row in rows]})
