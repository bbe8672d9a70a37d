"""Executions in engines, with who else saw them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from controlplane.web import paged
from ingest import selectors
from ingest.api.batches import PRODUCT
from ingest.deliveries import reader_of
from ingest.models import EngineAttempt
from ingest.selectors.call_cost import call_cost
from ingest.selectors.routes import newest_document
from ingest.selectors.routes import route_of as route_of_product
from orchid.engine.usage import CallCost
from policies.models import Product

SOURCE = OpenApiParameter("source", str, description="A source's name; default: every source.")


@dataclass(frozen=True)
class Told:
    """One attempt with its joins, and what it cost by the product's newest document."""

    seen: selectors.AttemptSeen
    cost: CallCost


class AttemptOut(serializers.Serializer[Told]):
    """One execution in an engine; `joined` says who else saw it: gateway, client or nobody.

    Token counts are as they were told, by the convention named beside them. `cost_usd` is null
    where it is unknown, and `cost_unknown` says why: no_price, no_tokens or tokens_contradict.
    """

    source = serializers.CharField(source="seen.attempt.source.name")  # type: ignore[assignment]
    server_run = serializers.CharField(source="seen.attempt.source.server_run")
    attempt_id = serializers.CharField(source="seen.attempt.attempt_id")
    model = serializers.CharField(source="seen.attempt.model")
    parent = serializers.CharField(source="seen.attempt.parent_key")  # type: ignore[assignment]
    started_at = serializers.DateTimeField(source="seen.started_at")
    queue_ms = serializers.FloatField(source="seen.attempt.queue_ms")
    compute_ms = serializers.FloatField(source="seen.attempt.compute_ms")
    request_ms = serializers.FloatField(source="seen.attempt.request_ms")
    exclusive_ms = serializers.FloatField(source="seen.attempt.exclusive_ms")
    first_response_ms = serializers.FloatField(source="seen.first_response_ms")
    last_response_ms = serializers.FloatField(source="seen.last_response_ms")
    outcome = serializers.CharField(source="seen.outcome")
    engine_outcome = serializers.CharField(source="seen.engine_outcome")
    joined = serializers.CharField(source="seen.joined")
    disagrees = serializers.BooleanField(source="seen.disagrees")
    system = serializers.CharField(source="seen.attempt.system")
    first_token_ms = serializers.FloatField(source="seen.attempt.first_token_ms")
    input_tokens = serializers.IntegerField(source="seen.attempt.input_tokens")
    cached_input_tokens = serializers.IntegerField(source="seen.attempt.cached_input_tokens")
    cache_write_tokens = serializers.IntegerField(source="seen.attempt.cache_write_tokens")
    output_tokens = serializers.IntegerField(source="seen.attempt.output_tokens")
    input_convention = serializers.CharField(source="seen.attempt.input_convention")
    cost_usd = serializers.SerializerMethodField()
    cost_unknown = serializers.CharField(source="cost.reason")

    def get_cost_usd(self, told: Told) -> str | None:
        return None if told.cost.usd is None else f"{told.cost.usd.normalize():f}"


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
        rows = [AttemptOut(one).data for one in _told(product, page.rows)]
        return Response({"results": rows, "next_cursor": page.next_cursor})


def _told(product: Product, found: Sequence[EngineAttempt]) -> Iterator[Told]:
    document, route_of = newest_document(product), route_of_product(product)
    for seen in selectors.joined(product, found):
        attempt = seen.attempt
        route = route_of(attempt.source_id, attempt.model)
        yield Told(seen, call_cost(attempt, document, route))
