"""Who is told of what, and whether it came through."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from accounts.guard import Permission, may, page, require
from controlplane.errors import BadInput
from policies.models import Product
from policies.selectors import product as product_by_slug
from releases.forms import WebhookForm
from releases.selectors.notices import told
from releases.services.deliveries import resend
from releases.services.webhooks import create_webhook, end_webhook


@page(Permission.VIEW)
@require_http_methods(["GET", "HEAD", "POST"])
def notices(request: HttpRequest, slug: str) -> HttpResponse:
    """The last notices; an owner adds an address, whose secret is shown on the answer alone."""
    product = product_by_slug(slug)
    if request.method == "POST":
        require(request.actor, Permission.ADMINISTER, slug)  # type: ignore[attr-defined]
        form = WebhookForm(request.POST)
        if form.is_valid():
            return _added(request, product, form)
        return _page(request, product, {"form": form}, status=400)
    return _page(request, product, {"form": WebhookForm()})


@page(Permission.ADMINISTER)
@require_POST
def end(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    row = end_webhook(request.actor, product_by_slug(slug), pk)  # type: ignore[attr-defined]
    messages.success(request, f"{row.url} is told no more.")
    return redirect("releases:notices", slug=slug)


@page(Permission.ADMINISTER)
@require_POST
def send_again(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    resend(request.actor, product_by_slug(slug), pk)  # type: ignore[attr-defined]
    messages.success(request, "It is sent again within seconds.")
    return redirect("releases:notices", slug=slug)


def _added(request: HttpRequest, product: Product, form: WebhookForm) -> HttpResponse:
    actor, data = request.actor, form.cleaned_data  # type: ignore[attr-defined]
    try:
        row, secret = create_webhook(actor, product, data["url"], data["kinds"])
    except BadInput as refused:
        form.add_error("url", refused.detail)
        return _page(request, product, {"form": form}, status=400)
    return _page(request, product, {"form": WebhookForm(), "added": row, "secret": secret})


def _page(
    request: HttpRequest, product: Product, more: dict[str, Any], status: int = 200
) -> HttpResponse:
    context = {
        "product": product,
        "told": told(product),
        "may_administer": may(
            request.actor,  # type: ignore[attr-defined]
            Permission.ADMINISTER,
            product.slug,
        ),
        **more,
    }
    response = render(request, "releases/notices.html", context, status=status)
    if "secret" in more:
        response.headers["Cache-Control"] = "no-store"
    return response
