"""What engines tell by route for machines, beside the gateway; and which model is which route."""

from datetime import datetime
from typing import Any, ClassVar

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.idempotency import idempotent
from ingest import selectors
from ingest.api.batches import PRODUCT
from ingest.deliveries import reader_of, sender_of
from ingest.models import EngineRoute
from ingest.selectors.agreement import Agreement, Compared, compared
from ingest.selectors.engine_view import METHOD, EngineView, Seen, engine_view
from ingest.selectors.routes import mappings
from ingest.selectors.unmapped import Unmapped, unmapped
from ingest.selectors.windows import WINDOWS, window_of
from ingest.services.mapping import Wanted, map_model, unmap
from policies.models import Product

WINDOW = OpenApiParameter("window", str, enum=list(WINDOWS), description="Default: 1h.")
NO_POPULATION = "no data: no gateway population"
NEXT_STEP = "Run an edge in front of the engines (orchid edge run); it records each request."


class PercentilesOut(serializers.Serializer[Any]):
    """Milliseconds; null where no execution has the phase."""

    p50 = serializers.FloatField()
    p95 = serializers.FloatField()
    p99 = serializers.FloatField()


class SeenOut(serializers.Serializer[Seen]):
    """One route, or one model of it. `cost_usd` is of `priced` executions only; null without."""

    route = serializers.CharField()
    model = serializers.CharField()
    executions = serializers.IntegerField()
    endings = serializers.DictField(child=serializers.IntegerField())
    request_ms = PercentilesOut(source="request")
    queue_ms = PercentilesOut(source="queue")
    compute_ms = PercentilesOut(source="compute")
    first_token_ms = PercentilesOut(source="first_token")
    input_tokens = serializers.IntegerField()
    cached_input_tokens = serializers.IntegerField(source="cached_tokens")
    output_tokens = serializers.IntegerField()
    cost_usd = serializers.SerializerMethodField()
    priced = serializers.IntegerField(source="cost.priced")
    cost_unknown = serializers.IntegerField(source="cost.unknown")

    def get_cost_usd(self, seen: Seen) -> str | None:
        return str(seen.cost.usd) if seen.cost.priced else None


class DifferenceOut(serializers.Serializer[Any]):
    outcome = serializers.CharField()
    requests = serializers.IntegerField()
    engine = serializers.CharField()
    reason = serializers.CharField()


class AgreementOut(serializers.Serializer[Agreement]):
    """The gateway's requests are the denominator; the engine's own share is used nowhere."""

    route = serializers.CharField()
    requests = serializers.IntegerField()
    answered = serializers.IntegerField()
    share = serializers.FloatField()
    executions = serializers.IntegerField()
    engine_answered = serializers.IntegerField()
    engine_share_not_used = serializers.FloatField(source="engine_share")
    agreed = serializers.IntegerField()
    differ = serializers.IntegerField()
    differences = DifferenceOut(many=True)


class CountsOut(serializers.Serializer[selectors.EngineCounts]):
    """How requests of one model ended by the engine's own counters, in its own words."""

    source = serializers.CharField(source="source.name")  # type: ignore[assignment]
    model = serializers.CharField()
    ended = serializers.DictField(child=serializers.IntegerField())


class ViewOut(serializers.Serializer[EngineView]):
    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    method = serializers.CharField(default=METHOD)
    read_from = serializers.DateTimeField()
    capped = serializers.BooleanField()
    routes = SeenOut(many=True)
    models = SeenOut(many=True)
    unmapped = SeenOut(many=True)
    inner = serializers.DictField(child=serializers.IntegerField())
    fleet_estimate = serializers.SerializerMethodField()

    def get_fleet_estimate(self, view: EngineView) -> dict[str, Any] | None:
        """Hourly dollars times the stretch over its executions, busy or idle."""
        if view.fleet is None:
            return None
        return {
            "usd_per_execution": str(view.fleet.usd_per_execution),
            "usd_per_h": str(view.fleet.usd_per_h),
            "seconds": str(view.fleet.seconds),
            "executions": view.fleet.executions,
        }


class EngineViewNow(APIView):
    @extend_schema(responses=ViewOut, parameters=[PRODUCT, WINDOW])
    def get(self, request: Any) -> Response:
        """Latency, outcomes and cost as engines tell them, and where the gateway says otherwise."""
        product, now = reader_of(request), timezone.now()
        window = window_of(request.query_params.get("window", ""))
        since = now - window.length
        told = ViewOut(engine_view(product, since, now, window.step_s)).data
        beside = _beside(compared(product, since))
        counted = [CountsOut(one).data for one in selectors.engine_counts(product, since)]
        said = {"method": METHOD, "gates": _gates(product, now), "engine_counters": counted}
        return Response({**told, **said, **beside})


def _gates(product: Product, now: datetime) -> dict[str, str | None]:
    """Whether a gateway's population is there to be judged at all."""
    if selectors.watermark(product, now) is not None:
        return {"verdict": None, "reason": "judged on the gateway's population", "next_step": None}
    return {"verdict": "no_data", "reason": NO_POPULATION, "next_step": NEXT_STEP}


def _beside(found: Compared) -> dict[str, Any]:
    against = [AgreementOut(one).data for one in found.routes]
    return {"against_gateway": against, "unclaimed_executions": found.unclaimed}


class EngineRouteOut(serializers.ModelSerializer[EngineRoute]):
    """A model and its route; `source` is null where it holds for every source."""

    class Meta:
        model = EngineRoute
        fields: ClassVar = ["id", "model", "source", "route", "version", "changed_at"]


class UnmappedOut(serializers.Serializer[Unmapped]):
    model = serializers.CharField()
    executions = serializers.IntegerField()
    suggestion = serializers.CharField()


class MappingIn(serializers.Serializer[Any]):
    """`expected_version` is that of the mapping to change; without it, it is mapped afresh."""

    model = serializers.CharField(max_length=256)
    route = serializers.CharField(max_length=80)
    # A field may be called `source` like any other; the stubs take it for Field.source.
    source = serializers.IntegerField(  # type: ignore[assignment]
        required=False, allow_null=True, min_value=1, max_value=2**63 - 1
    )
    expected_version = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=2**31 - 1
    )


class VersionIn(serializers.Serializer[Any]):
    expected_version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class EngineRoutes(APIView):
    @extend_schema(responses=EngineRouteOut(many=True), parameters=[PRODUCT])
    def get(self, request: Any) -> Response:
        """Which route each model stands for, and the models that stand for none."""
        product = reader_of(request)
        rows = [EngineRouteOut(row).data for row in mappings(product)]
        open_ones = [UnmappedOut(one).data for one in unmapped(product)]
        return Response({"results": rows, "unmapped": open_ones})

    @extend_schema(request=MappingIn, responses=EngineRouteOut, parameters=[PRODUCT])
    @idempotent
    def post(self, request: Any) -> Response:
        """Say which route a model stands for; 409 when the mapping is not the one you saw."""
        sender, given = sender_of(request), _checked(MappingIn(data=request.data))
        pk = given.get("source")
        source = selectors.source_of(sender.product, pk) if pk else None
        wanted = Wanted(given["model"], given["route"], source)
        row = map_model(sender.actor, sender.product, wanted, given.get("expected_version"))
        return Response(EngineRouteOut(row).data)


class UnmapRoute(APIView):
    @extend_schema(request=VersionIn, responses={204: None}, parameters=[PRODUCT])
    @idempotent
    def post(self, request: Any, pk: int) -> Response:
        """Take a mapping away; 409 when it was changed since."""
        sender, given = sender_of(request), _checked(VersionIn(data=request.data))
        unmap(sender.actor, sender.product, pk, given["expected_version"])
        return Response(status=204)


def _checked(form: serializers.Serializer[Any]) -> dict[str, Any]:
    form.is_valid(raise_exception=True)
    return dict(form.validated_data)
