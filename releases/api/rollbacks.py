"""The way back for machines: do it, rehearse it, and whether it is ready."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import actor_of
from accounts.idempotency import idempotent
from controlplane.rest import in_pages, taken
from releases import serializers as shapes
from releases.api import rollback_shapes
from releases.api.parts import named_product, one_product
from releases.models import Drill
from releases.selectors.drill import drill_fact, drill_of, drills
from releases.selectors.restore import restorable
from releases.selectors.seen import seen
from releases.services import rollback
from releases.services.drill import start_drill


class Rollbacks(APIView):
    @extend_schema(request=rollback_shapes.NewRollback, responses={201: shapes.PublicationOut})
    @idempotent
    def post(self, request: Request, slug: str | None = None) -> Response:
        """201 with the new publication; 200 with the last one where it already is that rollback."""
        data = taken(rollback_shapes.NewRollback, request)
        product = named_product(request, slug, data)
        actor, reason = actor_of(request), data["reason"]
        publication, made = rollback.roll_back(
            actor, product, reason, to=data["to"], leaves=data["leaves"] or None
        )
        return Response(shapes.PublicationOut(publication).data, status=201 if made else 200)


class RollbackReadiness(APIView):
    @extend_schema(responses=rollback_shapes.ReadinessOut)
    def get(self, request: Request, slug: str) -> Response:
        """What a rollback would restore now, with each fact that it rests on."""
        product = one_product(request, slug)
        facts, why_not = restorable(product)
        return Response(rollback_shapes.readiness(product, facts, why_not))


class Drills(APIView):
    @extend_schema(responses=rollback_shapes.DrillOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Every rehearsal, newest first."""
        rows = drills(one_product(request, slug))
        return in_pages(request, rows, "started_at", _drills)

    @extend_schema(request=rollback_shapes.NewDrill, responses={201: rollback_shapes.DrillOut})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """201 with a new rehearsal; 200 with the one that runs."""
        data = taken(rollback_shapes.NewDrill, request)
        product = one_product(request, slug)
        row, made = start_drill(actor_of(request), product, data["reason"])
        return Response(rollback_shapes.drill(drill_fact(row)), status=201 if made else 200)


class DrillDetail(APIView):
    @extend_schema(responses=rollback_shapes.DrillOut)
    def get(self, request: Request, pk: int) -> Response:
        """One rehearsal with every answer so far."""
        row = seen(actor_of(request), Drill.objects.select_related("product"), pk)
        return Response(rollback_shapes.drill(drill_of(row.product, pk)))


def _drills(rows: list[Drill]) -> list[dict[str, Any]]:
    return [rollback_shapes.drill(drill_fact(row)) for row in rows]
