"""Overrides of inconclusive stages, for machines that show them and people who act by API."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from controlplane.rest import listed, taken
from releases import decision_shapes as shapes
from releases.api.parts import seen_rollout
from releases.models import Override
from releases.selectors.overrides import overrides
from releases.selectors.seen import seen
from releases.services import override


class RolloutOverrides(APIView):
    @extend_schema(responses=shapes.OverrideOut(many=True))
    def get(self, request: Request, pk: int) -> Response:
        row = seen_rollout(request, pk)
        rows = overrides(row.product).filter(rollout=row)
        return listed(request, rows, shapes.OverrideOut, "asked_at")

    @extend_schema(request=shapes.NewOverride, responses={201: shapes.OverrideOut})
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.NewOverride, request)
        row = seen_rollout(request, pk)
        asked = override.ask(actor_of(request), row, data["evaluation"], data["reason"])
        return Response(shapes.OverrideOut(asked).data, status=201)


class OverrideDetail(APIView):
    @extend_schema(responses=shapes.OverrideOut)
    def get(self, request: Request, pk: int) -> Response:
        return Response(shapes.OverrideOut(seen_override(request, pk)).data)


class ConfirmOverride(APIView):
    @extend_schema(request=shapes.ConfirmedOverride, responses=shapes.OverrideOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        version = taken(shapes.ConfirmedOverride, request)["expected_version"]
        actor, row = actor_of(request), seen_override(request, pk)
        confirmed = override.confirm(actor, row, expected_version=version)
        return Response(shapes.OverrideOut(confirmed).data)


def seen_override(request: Request, pk: int) -> Override:
    return seen(actor_of(request), Override.objects.select_related("product"), pk)
