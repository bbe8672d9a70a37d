"""Rollouts, for machines."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from controlplane.rest import listed, taken
from releases import serializers as shapes
from releases.api.parts import seen_rollout, visible
from releases.models import Rollout
from releases.selectors.exposure import exposure
from releases.selectors.progress import progress
from releases.services import rollout, stage
from releases.states import OPEN_ROLLOUTS


class Rollouts(APIView):
    @extend_schema(responses=shapes.RolloutOut(many=True))
    def get(self, request: Request) -> Response:
        rows = Rollout.objects.filter(product__in=visible(request, None))
        rows = rows.select_related("product", "publication")
        return listed(request, rows, shapes.RolloutOut, "created_at")


class RolloutDetail(APIView):
    @extend_schema(responses=shapes.RolloutDetailOut)
    def get(self, request: Request, pk: int) -> Response:
        """The rollout and, while it is open, where each segment stands and what keeps it there."""
        row, now = seen_rollout(request, pk), timezone.now()
        found = progress(row, now) if row.state in OPEN_ROLLOUTS else None
        lanes: Any = found.lanes if found else []
        exposed: Any = exposure(row.publication, now) if found else []
        return Response(
            {
                **shapes.RolloutOut(row).data,
                "blockers": found.blockers if found else [],
                "by_hand": found.by_hand if found else False,
                "earliest": found.earliest if found else None,
                "segments": shapes.LaneOut(lanes, many=True).data,
                "exposure": shapes.ExposedOut(exposed, many=True).data,
            }
        )


class ApproveStage(APIView):
    @extend_schema(request=shapes.StageApproved, responses=shapes.RolloutOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        data = taken(shapes.StageApproved, request)
        row = stage.approve_stage(
            actor_of(request),
            seen_rollout(request, pk),
            data["reason"],
            of=data["segments"],
            expected_version=data["expected_version"],
        )
        return Response(shapes.RolloutOut(row).data)


class HoldBack(APIView):
    @extend_schema(request=shapes.SegmentMoved, responses=shapes.RolloutOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        """Keep a gated segment where it stands while everything else goes on."""
        data = taken(shapes.SegmentMoved, request)
        row, version = seen_rollout(request, pk), data["expected_version"]
        row = stage.hold_back(
            actor_of(request), row, data["segment"], data["reason"], expected_version=version
        )
        return Response(shapes.RolloutOut(row).data)


class LetGo(APIView):
    @extend_schema(request=shapes.SegmentMoved, responses=shapes.RolloutOut)
    @idempotent
    def post(self, request: Request, pk: int) -> Response:
        """Let a gated segment go on by its own verdicts, ahead of the rest or after it."""
        data = taken(shapes.SegmentMoved, request)
        row, version = seen_rollout(request, pk), data["expected_version"]
        row = stage.let_go(
            actor_of(request), row, data["segment"], data["reason"], expected_version=version
        )
        return Response(shapes.RolloutOut(row).data)


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
