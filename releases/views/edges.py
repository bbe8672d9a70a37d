"""What each edge runs and says."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.guard import Permission, page
from controlplane.web import render_page
from policies.selectors import product as product_by_slug
from releases.selectors.edges import edge_facts
from releases.selectors.reconciliation import pool_facts
from releases.services.issue import latest


@page(Permission.VIEW)
@require_safe
def edges(request: HttpRequest, slug: str) -> HttpResponse:
    """Wanted against active for every edge, and what still runs on which pool."""
    product = product_by_slug(slug)
    current = latest(product)
    context = {
        "product": product,
        "current": current,
        "edges": edge_facts(product, current),
        "pools": pool_facts(product),
    }
    return render_page(request, "releases/edges.html", "releases/_edges.html", context)
