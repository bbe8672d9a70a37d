"""Page: the logical requests that gateways recorded."""

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from accounts.guard import Permission, page
from controlplane.web import HtmxRequest, paged, render_page
from ingest import selectors
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def requests(request: HtmxRequest, slug: str) -> HttpResponse:
    product = policies.product(slug)
    found = paged(selectors.requests(product), request.GET.get("cursor", ""), field="arrived_at")
    context = {"product": product, "requests": found}
    return render_page(request, "ingest/requests.html", "ingest/_requests.html", context)
