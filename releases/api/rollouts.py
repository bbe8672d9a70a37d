"""Rollouts, for machines."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from releases import serializers as shapes
from releases.api.parts import listed, seen_rollout, taken, visible
from releases.models import Rollout
from releases.selectors.progress import progress
from releases.services import rollout
from releases.states import OPEN_ROLLOUTS


class Rollouts(APIView):
    @extend_schema(responses=shapes.RolloutOut(many=True))
    def get(self, request: Request) -> Response:
        rows = Rollout.objects.filter(product__in=visible(request, None))
        rows = rows.select_related("product", "publication")
        return listed(request, rows, shapes.RolloutOut, "created_at")


class RolloutDetail(APIView):
    @extend_schema(responses=shapes.RolloutOut)
    def get(self, request: Request, pk: int) -> Response:
        """The rollout and, while it is open, what keeps it from advancing."""
        row = seen_rollout(request, pk)
        is_open = row.state in OPEN_ROLLOUTS
        blockers = progress(row, timezone.now()).blockers if is_open else []
        return Response({**shapes.RolloutOut(row).data, "blockers": blockers})


class Advance(APIView):
    @extend_schema(request=shapes.Moved, responses=shapes.RolloutOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        version = taken(shapes.Moved, request)["expected_version"]
        row = rollout.advance(
            actor_of(request), seen_rollout(request, pk), expected_version=version
        )
        return Response(shapes.RolloutOut(row).data)


class Pause(APIView):
    @extend_schema(request=shapes.Moved, responses=shapes.RolloutOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.Moved, request)
        row = seen_rollout(request, pk)
        version = data["expected_version"]
        row = rollout.pause(actor_of(request), row, data["reason"], expected_version=version)
        return Response(shapes.RolloutOut(row).data)


class Resume(APIView):
    @extend_schema(request=shapes.Moved, responses=shapes.RolloutOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.Moved, request)
        row = seen_rollout(request, pk)
        version = data["expected_version"]
        row = rollout.resume(actor_of(request), row, data["reason"], expected_version=version)
        return Response(shapes.RolloutOut(row).data)
