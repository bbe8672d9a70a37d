"""What was published."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.guard import Permission, may, page
from controlplane.web import paged
from policies.selectors import product as product_by_slug
from releases.models import Publication
from releases.selectors.live import publication_fact
from releases.services.issue import latest


@page(Permission.VIEW)
@require_safe
def publications(request: HttpRequest, slug: str) -> HttpResponse:
    """Every admission generation, newest first, and what each serves."""
    product = product_by_slug(slug)
    rows = Publication.objects.filter(product=product)
    page_of = paged(rows, request.GET.get("cursor", ""), field="published_at")
    facts = [publication_fact(row) for row in page_of.rows]
    newest = latest(product)
    context = {
        "product": product,
        "facts": facts,
        "page": page_of,
        "newest": newest.number if newest else None,
        "may_roll_back": may(request.actor, Permission.ROLLBACK, slug),  # type: ignore[attr-defined]
    }
    return render(request, "releases/publications.html", context)
