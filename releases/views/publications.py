"""What was published."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.guard import Permission, page
from controlplane.web import paged
from policies.selectors import product as product_by_slug
from releases.models import Publication
from releases.selectors.live import (
    publication_fact,
)


@page(Permission.VIEW)
@require_safe
def publications(request: HttpRequest, slug: str) -> HttpResponse:
    """Every admission generation, newest first, and what each serves."""
    product = product_by_slug(slug)
    rows = Publication.objects.filter(product=product)
    page_of = paged(rows, request.GET.get("cursor", ""), field="published_at")
    facts = [publication_fact(row) for row in page_of.rows]
    context = {"product": product, "facts": facts, "page": page_of}
    return render(request, "releases/publications.html", context)
