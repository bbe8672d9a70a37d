"""The books and the budgets for machines."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission
from controlplane.errors import NotFound
from gates.api.asked import PRODUCT, visible_product
from gates.selectors.book_rows import rows
from gates.selectors.budgets import budgets
from gates.selectors.economics import Books, books
from gates.selectors.months import Months, months
from gates.selectors.periods import period_of
from orchid.engine.document.values import decimal_text, duration_text
from orchid.engine.economics.budgets import Use
from orchid.engine.economics.ledger import PoolHour, usd_of_parts

PERIOD = OpenApiParameter("period", str, description="hour, day (default), week or window.")
FROM = OpenApiParameter("from", str, description="Instead of a period: its first moment.")
TO = OpenApiParameter("to", str, description="Its end; at most 31 days after `from`.")
BY = OpenApiParameter("by", str, description="route (default), tenant or a dimension.")
BASELINE = OpenApiParameter("baseline", str, description="What the saving is against.")


class LedgerLineOut(serializers.Serializer[Any]):
    """One pool in one hour; dollars are decimal text."""

    hour_at = serializers.DateTimeField()
    pool = serializers.CharField()
    seconds = serializers.CharField()
    devices_usd = serializers.CharField()
    overhead_usd = serializers.CharField()
    total_usd = serializers.CharField()
    invested_seconds = serializers.CharField()


class BooksOut(serializers.Serializer[Any]):
    """`rows` sum to `total_usd` exactly; what is unknown is null."""

    start = serializers.DateTimeField()
    end = serializers.DateTimeField()
    total_usd = serializers.CharField()
    external_usd = serializers.CharField()
    unpriced = serializers.IntegerField()
    measured_by = serializers.ListField(child=serializers.CharField())
    ledger = LedgerLineOut(many=True)
    rows = serializers.ListField(child=serializers.DictField())
    months = serializers.DictField(allow_null=True)


class UseOut(serializers.Serializer[Any]):
    """One cap of one tenant, in the cap's unit."""

    tenant = serializers.CharField()
    cap = serializers.CharField()
    window = serializers.CharField()
    limit = serializers.CharField()
    used = serializers.CharField()
    reserved = serializers.CharField(allow_null=True)
    projected = serializers.CharField(allow_null=True)
    unpriced = serializers.IntegerField()
    by_busiest_step = serializers.BooleanField()
    standing = serializers.CharField()


class BudgetsOut(serializers.Serializer[Any]):
    """Every cap of every tenant, worst first, counted up to `at`."""

    at = serializers.DateTimeField()
    uses = UseOut(many=True)


class Economics(APIView):
    @extend_schema(responses=BooksOut, parameters=[PRODUCT, PERIOD, FROM, TO, BY, BASELINE])
    def get(self, request: Request, slug: str = "") -> Response:
        """What was spent in a period, and whom it was laid on."""
        product, asked = visible_product(request, slug, Permission.VIEW), request.query_params
        span = (asked.get(name, "") for name in ("period", "from", "to"))
        found = books(product, period_of(product, timezone.now(), *span))
        answer = _books(found, asked.get("by", ""))
        answer["months"] = _months(months(product, asked.get("baseline", "")))
        return Response(BooksOut(answer).data)


class TenantBudgets(APIView):
    @extend_schema(responses=BudgetsOut, parameters=[PRODUCT])
    def get(self, request: Request, slug: str = "") -> Response:
        """What tenants used of the live document's budgets."""
        product = visible_product(request, slug, Permission.VIEW)
        found = budgets(product, timezone.now())
        if found is None:
            raise NotFound("not_live", "Nothing is live, so no budget holds yet.")
        return Response(BudgetsOut({"at": found.at, "uses": map(_use, found.uses)}).data)


def _books(found: Books, by: str) -> dict[str, Any]:
    return {
        "start": found.period.start,
        "end": found.period.end,
        "total_usd": _usd(found.by_cell.total),
        "external_usd": _usd(found.by_cell.external),
        "unpriced": found.by_cell.whole.unpriced,
        "measured_by": sorted(found.by_cell.measured_by),
        "ledger": [_line(hour) for hour in found.by_cell.hours],
        "rows": rows(found, by),
    }


def _line(hour: PoolHour) -> dict[str, Any]:
    return {
        "hour_at": hour.hour_at,
        "pool": hour.pool,
        "seconds": decimal_text(hour.live.seconds + hour.invested.seconds),
        "devices_usd": _usd(hour.devices_parts),
        "overhead_usd": _usd(hour.overhead_parts),
        "total_usd": _usd(hour.total_parts),
        "invested_seconds": decimal_text(hour.invested.seconds),
    }


def _months(found: Months | None) -> dict[str, Any] | None:
    if found is None:
        return None
    against = found.against
    return {
        "of": found.name,
        "ledger_usd": decimal_text(found.ledger_usd),
        "successes": _text(found.successes, 0),
        "cost_per_success_usd": _text(found.cost_usd, 15),
        "baseline": against and against.name,
        "baseline_kind": against and against.kind,
        "baseline_usd": against and decimal_text(against.cost_usd),
        "saved_usd": _text(found.saved_usd, 4),
        "baselines": [one.name for one in found.baselines],
    }


def _use(use: Use) -> dict[str, Any]:
    return {
        "tenant": use.tenant,
        "cap": use.cap,
        "window": duration_text(round(use.window.total_seconds() * 1000)),
        "limit": decimal_text(use.limit),
        "used": _text(use.used, 6),
        "reserved": _text(use.reserved, 6),
        "projected": _text(use.projected, 6),
        "unpriced": use.unpriced,
        "by_busiest_step": use.by_busiest_step,
        "standing": use.standing.value,
    }


def _text(value: Any, places: int) -> str | None:
    return None if value is None else decimal_text(round(value, places))


def _usd(parts: int) -> str:
    return decimal_text(usd_of_parts(parts))
