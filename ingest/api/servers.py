"""Model servers for machines: register, look, change, forget, and three moves."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from ingest.api.batches import PRODUCT
from ingest.deliveries import named_product, reader_of
from ingest.models import TritonServer
from ingest.selectors.servers import ServerRow, server_of, servers
from ingest.services import servers as services
from ingest.services.servers.registering import WISHES, may_manage
from policies import selectors as policies
from policies.models import Product


class ServerIn(serializers.Serializer[Any]):
    """What an operator says of a server; `null` for a trace rate leaves its settings alone."""

    http_url = serializers.CharField(required=False, allow_blank=True, max_length=200)
    grpc_url = serializers.CharField(required=False, allow_blank=True, max_length=200)
    metrics_url = serializers.CharField(required=False, allow_blank=True, max_length=200)
    protocol = serializers.CharField(required=False, max_length=8)
    pool = serializers.CharField(required=False, allow_blank=True, max_length=80)
    poll_every_s = serializers.IntegerField(required=False, min_value=0, max_value=32_767)
    warm_up = serializers.CharField(required=False, max_length=8)
    trace_rate = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=2**31 - 1
    )
    candidate_trace_rate = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=2**31 - 1
    )


class NewServerIn(ServerIn):
    name = serializers.CharField(max_length=64)


class FindingOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    model = serializers.CharField()
    text = serializers.CharField()
    next = serializers.CharField()
    expected = serializers.CharField()
    found = serializers.CharField()


class ServerOut(serializers.Serializer[ServerRow]):
    """A server as its last check found it; `manifest` is held, broken, unproven or nothing."""

    name = serializers.CharField(source="server.name")
    kind = serializers.CharField(source="server.kind")
    http_url = serializers.CharField(source="server.http_url")
    grpc_url = serializers.CharField(source="server.grpc_url")
    metrics_url = serializers.CharField(source="server.metrics_url")
    protocol = serializers.CharField(source="server.protocol")
    pool = serializers.CharField(source="server.pool")
    poll_every_s = serializers.IntegerField(source="server.poll_every_s")
    warm_up = serializers.CharField(source="server.warm_up")
    trace_rate = serializers.IntegerField(source="server.trace_rate")
    candidate_trace_rate = serializers.IntegerField(source="server.candidate_trace_rate")
    server_run = serializers.CharField(source="server.server_run")
    state = serializers.CharField()
    state_since = serializers.DateTimeField(source="server.state_since")
    checked_at = serializers.DateTimeField(source="server.checked_at")
    last_good_at = serializers.DateTimeField(source="server.last_good_at")
    answered_in_ms = serializers.FloatField(source="server.answered_in_ms")
    about = serializers.CharField(source="server.about")
    manifest = serializers.CharField()
    findings = FindingOut(many=True)
    trace_settings = serializers.DictField(source="server.trace_settings")
    probes = serializers.DictField(source="server.probes")
    series_left_out = serializers.IntegerField(source="server.series_left_out")


def _managed(request: Any) -> Product:
    slug = named_product(request, actor_of(request))
    may_manage(actor_of(request), slug)
    return policies.product(slug)


def _wish(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in WISHES if name in given}


def _shown(product: Product, name: str, status: int = 200) -> Response:
    return Response(ServerOut(server_of(product, name)).data, status=status)


class Servers(APIView):
    @extend_schema(responses=ServerOut(many=True), parameters=[PRODUCT])
    def get(self, request: Any) -> Response:
        """Every registered server and how it is."""
        rows = servers(reader_of(request))
        return Response({"results": [ServerOut(row).data for row in rows]})

    @extend_schema(request=NewServerIn, responses={201: ServerOut}, parameters=[PRODUCT])
    @idempotent
    def post(self, request: Any) -> Response:
        """Register a server; it is checked within seconds. A metrics address alone is vLLM's."""
        product = _managed(request)
        form = NewServerIn(data=request.data)
        form.is_valid(raise_exception=True)
        name, wish = form.validated_data["name"], _wish(form.validated_data)
        services.register(actor_of(request), product, name, wish)
        return _shown(product, name, 201)


class OneServer(APIView):
    @extend_schema(responses=ServerOut, parameters=[PRODUCT])
    def get(self, request: Any, name: str) -> Response:
        """One server and how it is."""
        return _shown(reader_of(request), name)

    @extend_schema(request=ServerIn, responses=ServerOut, parameters=[PRODUCT])
    def patch(self, request: Any, name: str) -> Response:
        """Change what is given; it is checked again at once."""
        product = _managed(request)
        form = ServerIn(data=request.data)
        form.is_valid(raise_exception=True)
        row = server_of(product, name)
        services.change(actor_of(request), row.server, _wish(form.validated_data))
        return _shown(product, name)

    @extend_schema(responses={204: None}, parameters=[PRODUCT])
    def delete(self, request: Any, name: str) -> Response:
        """Ask it no more; what it told stays."""
        services.forget(actor_of(request), server_of(_managed(request), name).server)
        return Response(status=204)


class ServerMove(APIView):
    """One move of a server by its name in the address."""

    @extend_schema(request=None, responses=ServerOut, parameters=[PRODUCT])
    @idempotent
    def post(self, request: Any, name: str) -> Response:
        product = _managed(request)
        self.move(actor_of(request), server_of(product, name).server)
        return _shown(product, name)

    def move(self, actor: Any, server: TritonServer) -> None:
        raise NotImplementedError


class CheckServer(ServerMove):
    """Look at it now, and not when it is due."""

    def move(self, actor: Any, server: TritonServer) -> None:
        services.check_now(actor, server, timezone.now())


class AcceptServer(ServerMove):
    """Hold it to what its last check saw."""

    def move(self, actor: Any, server: TritonServer) -> None:
        services.accept(actor, server)


class FlushServer(ServerMove):
    """Have it write the traces that it holds."""

    def move(self, actor: Any, server: TritonServer) -> None:
        services.flush_traces(actor, server)
