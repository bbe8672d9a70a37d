"""What doors for programs share in every room: checked input, and lists by pages."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from controlplane.web import paged


def taken(shape: type[BaseSerializer[Any]], request: Request) -> dict[str, Any]:
    """The checked input; raises 400 with every wrong field."""
    given = shape(data=request.data)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


def listed(
    request: Request, rows: QuerySet[Any], shape: type[BaseSerializer[Any]], field: str
) -> Response:
    """One page of rows, each in this shape, the newest by `field` first."""
    return in_pages(request, rows, field, lambda page: shape(page, many=True).data)


def in_pages(
    request: Request,
    rows: QuerySet[Any],
    field: str,
    told: Callable[[list[Any]], Any],
    *,
    size: int = 50,
) -> Response:
    """The same, where `told` makes the items of a whole page."""
    page = paged(rows, request.query_params.get("cursor", ""), field=field, size=size)
    return Response({"items": told(page.rows), "next_cursor": page.next_cursor})
