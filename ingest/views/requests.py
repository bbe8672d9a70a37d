"""Pages: the logical requests that gateways recorded, searched, and one of them as a picture."""

from datetime import date
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from accounts.guard import Permission, page
from controlplane.errors import NotFound
from controlplane.web import HtmxRequest, paged, render_page
from ingest.forms.search import SearchForm
from ingest.selectors.explorer import SEARCHED, Sought, explored, request_row, sought
from ingest.selectors.lanes import lanes
from ingest.selectors.waterfall import waterfall
from orchid.engine.outcome import COUNTERS
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def requests(request: HtmxRequest, slug: str) -> HttpResponse:
    product, form = policies.product(slug), SearchForm(request.GET)
    asked = form.sought() if form.is_valid() else Sought()
    found = paged(sought(product, asked), request.GET.get("cursor", ""), field="arrived_at")
    context = {
        "product": product,
        "requests": found,
        "form": form,
        "bounded": SEARCHED if asked != Sought() and not asked.by_id else None,
        "query": form.query(),
    }
    return render_page(request, "ingest/requests.html", "ingest/_requests.html", context)


@require_GET
@page(Permission.VIEW)
def one_request(request: HtmxRequest, slug: str, day: str, pk: int) -> HttpResponse:
    product = policies.product(slug)
    found = explored(product, request_row(product, day_of(day), pk))
    context: dict[str, Any] = {
        "product": product,
        "found": found,
        "row": found.row,
        "counted": [name for name in COUNTERS if name in found.row.populations],
        "waterfall": waterfall(lanes(found)),
    }
    return render_page(request, "ingest/request.html", None, context)


def day_of(text: str) -> date:
    """A day as addresses write it; NotFound for anything else."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise NotFound("not_found", "A day is written like 2026-01-31.") from error
