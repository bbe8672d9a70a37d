"""One request for machines: its attempts, what engines tell of them, and where they disagree."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from ingest.api.batches import PRODUCT
from ingest.api.requests import RequestOut
from ingest.deliveries import reader_of
from ingest.models import ClientCall
from ingest.selectors.explorer import Execution, Explored, explored, newest_request


class ExecutionOut(serializers.Serializer[Execution]):
    """One execution; `depth` is 0 for what the gateway called itself. Stamps are [name, ns]."""

    source = serializers.CharField(source="attempt.source.name")  # type: ignore[assignment]
    server_run = serializers.CharField(source="attempt.source.server_run")
    attempt_id = serializers.CharField(source="root.attempt_id")
    depth = serializers.IntegerField()
    system = serializers.CharField(source="attempt.system")
    model = serializers.CharField(source="attempt.model")
    ending = serializers.CharField(source="attempt.ending")
    clock = serializers.CharField(source="attempt.clock")
    stamps = serializers.JSONField(source="attempt.stamps")
    queue_ms = serializers.FloatField(source="attempt.queue_ms")
    compute_ms = serializers.FloatField(source="attempt.compute_ms")
    request_ms = serializers.FloatField(source="attempt.request_ms")
    first_token_ms = serializers.FloatField(source="attempt.first_token_ms")
    input_tokens = serializers.IntegerField(source="attempt.input_tokens")
    output_tokens = serializers.IntegerField(source="attempt.output_tokens")


class CallOut(serializers.Serializer[ClientCall]):
    """The call as its client logged it, on the client's own clock."""

    request_id = serializers.CharField()
    outcome = serializers.CharField()
    failure = serializers.CharField()
    sent_at = serializers.DateTimeField()
    elapsed_ms = serializers.FloatField()
    first_response_ms = serializers.FloatField()


class ExploredOut(serializers.Serializer[Explored]):
    """`disagreement` is null where engine and gateway tell the same, or no engine told at all."""

    request = RequestOut(source="row")
    decision = serializers.JSONField()
    attempts = serializers.JSONField()
    engine = ExecutionOut(many=True, source="executions")
    attempts_unseen_by_engines = serializers.ListField(
        child=serializers.CharField(), source="unseen"
    )
    client = CallOut(many=True, source="calls")
    disagreement = serializers.SerializerMethodField()

    def get_disagreement(self, found: Explored) -> str | None:
        return found.disagreement or None


class OneRequest(APIView):
    @extend_schema(responses=ExploredOut, parameters=[PRODUCT])
    def get(self, request: Any, request_id: str) -> Response:
        """One request with all its attempts; the newest where an id came again on another day."""
        product = reader_of(request)
        found = explored(product, newest_request(product, request_id))
        return Response(ExploredOut(found).data)
