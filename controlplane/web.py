"""What every page view shares: the typed request, page or partial, cursor paging."""

import base64
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django_htmx.middleware import HtmxDetails

from controlplane.errors import BadInput

# Set for the length of one request; audit rows written on its behalf carry it.
request_id: ContextVar[str] = ContextVar("request_id", default="")


class HtmxRequest(HttpRequest):
    """A request as our views see it, after the middleware."""

    htmx: HtmxDetails
    # accounts.User or AnonymousUser, and accounts.guard.Actor; this leaf can't import the room.
    user: Any
    actor: Any


def render_page(
    request: HttpRequest,
    page_template: str,
    partial_template: str | None,
    context: dict[str, Any],
    status: int = 200,
) -> HttpResponse:
    """The whole page, or only its partial when htmx asked; the page includes the same file."""
    htmx: HtmxDetails | None = getattr(request, "htmx", None)
    by_htmx = htmx is not None and bool(htmx) and not htmx.boosted
    template = partial_template if by_htmx and partial_template else page_template
    response = render(request, template, context, status=status)
    response.headers["Vary"] = "HX-Request, Cookie"
    return response


def streamed(
    request: HttpRequest, parts: Iterator[bytes], content_type: str, filename: str
) -> StreamingHttpResponse:
    """A file that is made while it is sent, under either kind of server."""
    body = _in_threads(parts) if isinstance(request, ASGIRequest) else parts
    response = StreamingHttpResponse(body, content_type=content_type)
    response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


async def _in_threads(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Each part is made in a thread, since making it reads the database."""

    def following() -> bytes | None:
        return next(parts, None)

    while (part := await sync_to_async(following)()) is not None:
        yield part


@dataclass(frozen=True)
class CursorPage:
    """One page of a list that grows at its head; a cursor is empty where its direction ends."""

    rows: list[Any]
    next_cursor: str
    previous_cursor: str = ""


#: Third part of a cursor that leads to what is newer than its row.
_NEWER = "newer"


def paged(
    rows: QuerySet[Any], cursor: str, *, field: str = "created_at", size: int = 50
) -> CursorPage:
    """Newest first by (time, id). Raises BadInput for a cursor that we never gave out."""
    if not cursor:
        return _older(rows.order_by(f"-{field}", "-id"), field, size, first=True)
    at, last_id, is_newer = _decoded(cursor)
    side = "gt" if is_newer else "lt"
    beyond = Q(**{f"{field}__{side}": at}) | Q(**{field: at, f"id__{side}": last_id})
    if is_newer:
        return _newer(rows.filter(beyond).order_by(field, "id"), field, size)
    return _older(rows.filter(beyond).order_by(f"-{field}", "-id"), field, size, first=False)


def _older(ordered: QuerySet[Any], field: str, size: int, *, first: bool) -> CursorPage:
    found = list(ordered[: size + 1])
    page, more = found[:size], len(found) > size
    return CursorPage(
        page,
        _encoded(page[-1], field) if more else "",
        "" if first or not page else _encoded(page[0], field, _NEWER),
    )


def _newer(ordered: QuerySet[Any], field: str, size: int) -> CursorPage:
    found = list(ordered[: size + 1])
    page, more = found[:size][::-1], len(found) > size
    return CursorPage(
        page,
        _encoded(page[-1], field) if page else "",
        _encoded(page[0], field, _NEWER) if more else "",
    )


def _encoded(row: Any, field: str, *way: str) -> str:
    value = [getattr(row, field).isoformat(), row.id, *way]
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _decoded(cursor: str) -> tuple[datetime, int, bool]:
    try:
        at, last_id, *way = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or not isinstance(last_id, int) or abs(last_id) >= 2**63:
            raise ValueError("no time with an offset, or no id")
        if way not in ([], [_NEWER]):
            raise ValueError("no such way")
        return moment.astimezone(UTC), last_id, bool(way)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise BadInput(
            "bad_cursor", "This cursor is not one of ours. Start again without it."
        ) from error


def whole_number(text: str) -> int | None:
    """A number from an address or a header, from 0 and as large as the database counts; else None.

    `int` alone takes digits of every script, and fails on thousands of them.
    """
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        return None
    number = int(text)
    return number if number < 2**63 else None


@dataclass(frozen=True)
class Column:
    """`numeric` columns are set right with figures of equal width."""

    label: str
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    """What `components/_figure_table.html` shows. A cell is text or an object with `__html__`."""

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Plot:
    """What `components/_plot.html` shows: a Plotly figure as JSON and the table that says it."""

    element_id: str
    title: str
    figure_json: str
    table: Table
    note: str = ""
