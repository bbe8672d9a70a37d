"""The frontier for machines."""

import math
from decimal import Decimal
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission
from gates.api.asked import visible_product
from gates.charts.frontier_table import missed
from gates.selectors.frontier import Bounds, FrontierPoint, frontier_of
from orchid.engine.document.values import decimal_text
from orchid.engine.frontier import Interval

ASKED = [
    OpenApiParameter("segment", str, description="Key of a gated segment; default: the whole."),
    OpenApiParameter("load", str, description="Load state; default: all that was recorded."),
]


class FrontierNow(APIView):
    @extend_schema(responses=OpenApiTypes.OBJECT, parameters=ASKED)
    def get(self, request: Request, slug: str) -> Response:
        """Points of quality, latency and cost with their intervals, and what beats what."""
        product = visible_product(request, slug, Permission.VIEW)
        asked = request.query_params
        found = frontier_of(product, asked.get("segment", ""), asked.get("load", ""))
        return Response(
            {
                "segment": found.segment,
                "load": found.load,
                "segments": [choice.key for choice in found.segments],
                "loads": [choice.key for choice in found.loads],
                "bounds": dict(found.bounds),
                "points": [_point(one, found.bounds) for one in found.points],
                "trials": [_point(one, found.bounds) for one in found.trials],
            }
        )


def _point(found: FrontierPoint, bounds: Bounds) -> dict[str, Any]:
    point, lost = found.point, found.beaten
    return {
        "name": point.name,
        "kind": point.kind,
        "is_selected": found.is_selected,
        "utility": point.utility,
        "utility_interval": _ends(point.utility_interval),
        "p95_ms": point.p95_ms,
        "p95_interval_ms": _ends(point.p95_interval_ms),
        "cost_per_success_usd": _money(point.cost_per_success_usd),
        "cost_interval_usd": _ends(point.cost_interval_usd),
        "attainment": point.attainment,
        "attainment_interval": _ends(point.attainment_interval),
        "success_per_s": _money(point.success_per_s),
        "misses": [metric.value for metric in missed(point, bounds)],
        "dominated_by": list(lost.by) if lost else [],
        "is_told_apart": lost.surely if lost else None,
        "outcome": found.outcome,
    }


def _ends(interval: Interval | None) -> list[float | None] | None:
    """An end without a number is null."""
    return None if interval is None else [end if math.isfinite(end) else None for end in interval]


def _money(value: Decimal | None) -> str | None:
    return None if value is None else decimal_text(round(value, 12))
