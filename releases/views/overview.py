"""A product at a glance, and its first publication."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from accounts.guard import Permission, may, page
from controlplane.errors import NotFound
from controlplane.web import render_page
from gates.selectors import gates_now
from ingest.selectors import engines
from policies.models import Generation
from policies.selectors import product as product_by_slug
from releases.forms import FirstForm
from releases.selectors.live import (
    live,
)
from releases.services.binding import current_revision
from releases.services.publish import bootstrap
from releases.views.checks import checked


@page(Permission.VIEW)
@require_safe
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    """A product at a glance: what is live, is it good enough, what waits."""
    product = product_by_slug(slug)
    actor = request.actor  # type: ignore[attr-defined]
    context = {
        "product": product,
        "live": live(product),
        "gates_now": gates_now(product),
        "engines": engines(product),
        "may_roll_back": may(actor, Permission.ROLLBACK, slug),
        "may_act_alone": may(actor, Permission.EMERGENCY, slug),
        "may_publish": may(actor, Permission.PUBLISH, slug),
        "generations": Generation.objects.filter(product=product).order_by("number")[:50],
    }
    return render_page(request, "releases/overview.html", "releases/_overview.html", context)


@page(Permission.PUBLISH)
@require_POST
def first_publication(request: HttpRequest, slug: str) -> HttpResponse:
    """Bring a product to life with its first generation."""
    product = product_by_slug(slug)
    data = checked(FirstForm(request.POST))
    generation = Generation.objects.filter(product=product, number=data["generation"]).first()
    if generation is None:
        raise NotFound("not_found", f"{slug} has no generation {data['generation']}.")
    actor = request.actor  # type: ignore[attr-defined]
    bootstrap(actor, product, current_revision(generation), data["reason"])
    messages.success(request, "Published. The product is live once an edge activates it.")
    return redirect("releases:overview", slug=slug)
