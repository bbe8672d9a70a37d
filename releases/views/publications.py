"""What was published, and the way back."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.guard import Permission, page
from controlplane.web import paged
from policies.models import Product
from policies.selectors import product as product_by_slug
from releases.forms import ReasonForm
from releases.models import Publication
from releases.selectors.live import (
    publication_fact,
)
from releases.selectors.restore import restorable
from releases.services.rollback import roll_back


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


@page(Permission.ROLLBACK)
@require_http_methods(["GET", "HEAD", "POST"])
def rollback(request: HttpRequest, slug: str) -> HttpResponse:
    """What would be restored and whether it is ready; the second click does it."""
    product = product_by_slug(slug)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _rolled_back(request, product, form.cleaned_data["reason"])
    facts, why_not = restorable(product)
    context = {"product": product, "facts": facts, "why_not": why_not, "form": form}
    status = 400 if request.method == "POST" else 200
    return render(request, "releases/rollback.html", context, status=status)


def _rolled_back(request: HttpRequest, product: Product, reason: str) -> HttpResponse:
    actor = request.actor  # type: ignore[attr-defined]
    publication, made = roll_back(actor, product, reason)
    done = f"Publication {publication.number} restores the last good content."
    words = done if made else f"Publication {publication.number} had rolled back already."
    messages.success(request, words)
    return redirect("releases:edges", slug=product.slug)
