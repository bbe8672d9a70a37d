"""Page: quality, latency and cost together, for one part of the traffic under one load."""

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from accounts.guard import Permission, page
from controlplane.web import HtmxRequest, render_page
from gates.charts.frontier import frontier_plot
from gates.charts.frontier_table import trades_table, trials_table
from gates.selectors.frontier import frontier_of
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def frontier(request: HtmxRequest, slug: str) -> HttpResponse:
    """Every point of a segment and a load state, chosen by plain links."""
    product = policies.product(slug)
    found = frontier_of(product, request.GET.get("segment", ""), request.GET.get("load", ""))
    context = {
        "product": product,
        "found": found,
        "frontier": frontier_plot(found.points, found.bounds),
        "trades": trades_table(found.points),
        "trials": trials_table(found.trials, found.bounds) if found.trials else None,
    }
    return render_page(request, "gates/frontier.html", None, context)
