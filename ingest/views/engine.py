"""Page: latency, outcomes and cost as engines tell them, and the models that stand for no route."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.guard import Permission, may, page
from controlplane.errors import BadInput
from controlplane.web import HtmxRequest, render_page, whole_number
from ingest import selectors
from ingest.charts import latency_plot
from ingest.forms.mapping import MappingForm
from ingest.selectors.agreement import compared
from ingest.selectors.engine_view import METHOD, engine_view, total_cost
from ingest.selectors.routes import mappings, routes_of
from ingest.selectors.unmapped import unmapped
from ingest.selectors.windows import WINDOWS, window_of
from ingest.services.mapping import Wanted, map_model, unmap
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def engine(request: HtmxRequest, slug: str) -> HttpResponse:
    product, window = policies.product(slug), window_of(request.GET.get("window", ""))
    now = timezone.now()
    view = engine_view(product, now - window.length, now, window.step_s)
    counted = selectors.engine_counts(product, now - window.length)
    context = {
        "product": product,
        "window": window,
        "windows": WINDOWS.values(),
        "view": view,
        "method": METHOD,
        "cost": total_cost(view.routes),
        "plot": latency_plot(view.steps) if view.steps else None,
        "compared": compared(product, now - window.length),
        "counters": [one for one in counted if any(one.ended.values())],
        "watermark": selectors.watermark(product),
        **mapping_context(request, slug),
    }
    return render_page(request, "ingest/engine.html", None, context)


def mapping_context(request: HtmxRequest, slug: str) -> dict[str, object]:
    """What the panel of models needs, on whichever page it stands."""
    product = policies.product(slug)
    return {
        "mappings": mappings(product),
        "unmapped": unmapped(product),
        "routes": routes_of(product),
        "may_ingest": may(request.actor, Permission.INGEST, slug),
    }


@require_POST
@page(Permission.INGEST)
def map_route(request: HtmxRequest, slug: str) -> HttpResponse:
    """Say which route a model stands for; a stale page changes nothing and says so."""
    form = MappingForm(request.POST)
    if not form.is_valid():
        raise BadInput("bad_mapping", "Name a model and a route.", errors=form.errors)
    product, given = policies.product(slug), form.cleaned_data
    source = given["source"] and selectors.source_of(product, given["source"])
    wanted = Wanted(given["model"], given["route"], source or None)
    map_model(request.actor, product, wanted, given["version"])
    return _back(request, slug)


@require_POST
@page(Permission.INGEST)
def unmap_route(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    version = whole_number(request.POST.get("version", ""))
    if version is None:
        raise BadInput("version_missing", "Send the version of the mapping that you saw.")
    unmap(request.actor, policies.product(slug), pk, version)
    return _back(request, slug)


def _back(request: HtmxRequest, slug: str) -> HttpResponse:
    """To the page that the form stood on."""
    on_view = request.POST.get("here") == "engine"
    return redirect("ingest:engine" if on_view else "ingest:sources", slug=slug)
