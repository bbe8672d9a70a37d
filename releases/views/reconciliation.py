"""What still runs where, and letting a pool go."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.guard import Permission, may, page
from controlplane.web import render_page
from policies.models import Product
from policies.selectors import product as product_by_slug
from releases.forms import ReleaseForm
from releases.models import PoolRelease
from releases.selectors.reconciliation import pool_fact, pool_facts
from releases.selectors.restore import restorable
from releases.services.release_pool import release_pool

SHOWN = 20


@page(Permission.VIEW)
@require_safe
def reconciliation(request: HttpRequest, slug: str) -> HttpResponse:
    """Open sequences per manifest per edge, what keeps each pool, and those that were let go."""
    product = product_by_slug(slug)
    context = {
        "product": product,
        "pools": pool_facts(product, timezone.now()),
        "released": PoolRelease.objects.filter(product=product)[:SHOWN],
        "may_release": may(request.actor, Permission.PUBLISH, slug),  # type: ignore[attr-defined]
    }
    page, partial = "releases/reconciliation.html", "releases/_reconciliation.html"
    return render_page(request, page, partial, context)


@page(Permission.PUBLISH)
@require_http_methods(["GET", "HEAD", "POST"])
def release(request: HttpRequest, slug: str) -> HttpResponse:
    """Let one generation's pool go: what that is first, and the second click does it."""
    product = product_by_slug(slug)
    sent = request.POST if request.method == "POST" else None
    form = ReleaseForm(sent, initial={"digest": request.GET.get("digest", "")})
    if request.method == "POST" and form.is_valid():
        return _released(request, product, form)
    fact = pool_fact(product, form["digest"].value() or "", timezone.now())
    context = {
        "product": product,
        "fact": fact,
        "form": form,
        "is_way_back": fact.digest == _way_back(product),
    }
    status = 400 if request.method == "POST" else 200
    return render(request, "releases/release_pool.html", context, status=status)


def _released(request: HttpRequest, product: Product, form: ReleaseForm) -> HttpResponse:
    actor, data = request.actor, form.cleaned_data  # type: ignore[attr-defined]
    row, made = release_pool(actor, product, data["digest"], data["reason"])
    words = f"{row.pool} is released." if made else f"{row.pool} had been released already."
    messages.success(request, words)
    return redirect("releases:reconciliation", slug=product.slug)


def _way_back(product: Product) -> str | None:
    facts, _ = restorable(product)
    return facts.revision.digest if facts else None
