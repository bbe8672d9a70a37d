"""Rollups: delivered by edges that count themselves, read by whoever may look."""

from typing import Any

from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission
from ingest.api.batches import BATCH_ID, PRODUCT, BatchOut, receipt
from ingest.deliveries import batch_id_of, body_of, encoding_of, meta_of, reader_of, sender_of
from ingest.selectors.percentiles import Percentile
from ingest.selectors.rollup_pages import Asked, RollupSeen, rollup_page
from ingest.services import SourceKey, accept
from ingest.services.encoding import MAX_BODY
from ingest.states import RollupBy, SourceKind

CURSOR = OpenApiParameter("cursor", str, description="The next_cursor of the page before.")


class AskedIn(serializers.Serializer[Asked]):
    """The query of the list."""

    by = serializers.ChoiceField(choices=RollupBy.choices, required=False)
    digest = serializers.CharField(required=False)
    publication = serializers.IntegerField(required=False, min_value=0, max_value=2**31 - 1)
    cohort = serializers.CharField(required=False)
    start = serializers.DateTimeField(required=False)
    end = serializers.DateTimeField(required=False)


class PercentileOut(serializers.Serializer[Percentile]):
    """A percentile with its method; `ms` is null without a sample, or when it never ended."""

    quantile = serializers.FloatField()
    ms = serializers.FloatField(allow_null=True)
    beyond_grid = serializers.BooleanField()
    method = serializers.CharField()


class BoundOut(serializers.Serializer[Any]):
    """How many requests kept a latency bound; exact when each was compared with it."""

    bound = serializers.CharField()
    within = serializers.IntegerField()
    counted = serializers.IntegerField()
    exact = serializers.BooleanField()


class FigureOut(serializers.Serializer[Any]):
    """A figure over the requests that have it, in the unit that its name ends with."""

    name = serializers.CharField()
    count = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    maximum = serializers.FloatField(allow_null=True)


class RollupOut(serializers.Serializer[RollupSeen]):
    """What was counted in one step under one key."""

    step_at = serializers.DateTimeField(source="row.step_at")
    publication = serializers.IntegerField(allow_null=True, source="stream.publication")
    digest = serializers.CharField(source="stream.digest")
    cohort = serializers.CharField(source="stream.cohort")
    segment = serializers.DictField(child=serializers.CharField(), source="row.dims")
    route = serializers.CharField(source="row.route")
    manifest = serializers.CharField(source="row.manifest")
    tenant = serializers.CharField(source="row.tenant")
    tenant_since = serializers.DateTimeField(
        allow_null=True,
        help_text="Since when this tenant is counted by its name; of before some may lie in other.",
    )
    records = serializers.IntegerField(source="row.records")
    counters = serializers.DictField(child=serializers.IntegerField(), source="row.counters")
    percentiles = PercentileOut(many=True)
    bounds = BoundOut(many=True)
    figures = FigureOut(many=True)
    teu = serializers.DecimalField(max_digits=60, decimal_places=6, source="row.teu")
    cost_usd = serializers.DecimalField(max_digits=60, decimal_places=12, source="row.cost_usd")


def _asked(params: Any) -> Asked:
    form = AskedIn(data=params)
    form.is_valid(raise_exception=True)
    return Asked(**form.validated_data)


class Rollups(APIView):
    @extend_schema(responses=RollupOut(many=True), parameters=[PRODUCT, AskedIn, CURSOR])
    def get(self, request: Any) -> Response:
        """Rollups, newest step first; where steps are no longer kept, ten minutes a row."""
        params = request.query_params
        cursor = params.get("cursor", "")
        page = rollup_page(reader_of(request), _asked(params), cursor, timezone.now())
        rows = [RollupOut(row).data for row in page.rows]
        return Response({"results": rows, "next_cursor": page.next_cursor})

    @extend_schema(
        request={"application/x-ndjson": OpenApiTypes.BINARY},
        responses={202: BatchOut, 200: BatchOut},
        parameters=[BATCH_ID, PRODUCT],
    )
    def post(self, request: Any) -> Response:
        """Deliver rollups, one `orchid.rollup/v1` a line; 202 once they are durable.

        An edge counts a step by records or by rollups: the first delivery decides, and lines of
        the other kind are refused. A record that is also in a rollup says `in_rollup`.
        """
        sender = sender_of(request, Permission.EDGE)
        batch, created = accept(
            sender.product,
            SourceKey(SourceKind.EDGE, sender.name),
            batch_id_of(request),
            SourceKind.ROLLUP,
            body_of(request, MAX_BODY),
            request.content_type or "",
            encoding_of(request),
            meta_of(request),
        )
        return receipt(batch, created)
