"""The page of what a candidate would have decided, or of what its limits refuse."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.guard import Permission, page
from controlplane.web import render_page
from policies.selectors import product as product_by_slug
from releases.forms import ShadowForm
from releases.selectors.shadow_page import shadow_page
from releases.views.checks import checked


@page(Permission.VIEW)
@require_safe
def shadow(request: HttpRequest, slug: str) -> HttpResponse:
    """How often a candidate agrees, and the decisions in which it doesn't, with the reasons."""
    product, asked = product_by_slug(slug), checked(ShadowForm(request.GET))
    found = shadow_page(product, asked, request.GET.get("cursor", ""), timezone.now())
    context = {"product": product, "shadow": found}
    return render_page(request, "releases/shadow.html", "releases/_shadow.html", context)
