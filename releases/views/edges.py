"""What each edge runs and says, and who may be one."""

from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from accounts.forms import ReasonForm
from accounts.guard import Permission, may, page
from controlplane.errors import Conflict
from controlplane.web import HtmxRequest, render_page
from policies.models import Product
from policies.selectors import product as product_by_slug
from releases.edge_forms import (
    DeclareShareForm,
    RegisterEdgeForm,
    RetireEdgeForm,
    RotateEdgeForm,
)
from releases.selectors.edges import alarms
from releases.selectors.fleet import OneEdge, fleet, one_edge, product_edge
from releases.selectors.reconciliation import pool_facts
from releases.services import edges as services
from releases.services.issue import latest

FOR_GOOD = "id_%s_for_good"  # the page has three forms with a reason


@page(Permission.VIEW)
@require_safe
def edges(request: HtmxRequest, slug: str) -> HttpResponse:
    """Wanted against active for every edge, and what still runs on which pool."""
    return _edges(request, product_by_slug(slug), {})


@page(Permission.ADMINISTER)
@require_POST
def register(request: HtmxRequest, slug: str) -> HttpResponse:
    """Answers with the token in the page itself: it is shown this once, and in no redirect."""
    product, form = product_by_slug(slug), RegisterEdgeForm(request.POST)
    if not form.is_valid():
        return _edges(request, product, {"form": form}, status=400)
    credential, token = services.register_edge(request.actor, product, **form.cleaned_data)
    return _edges(request, product, {"issued": credential, "token": token})


@page(Permission.VIEW)
@require_safe
def edge(request: HtmxRequest, slug: str, name: str) -> HttpResponse:
    """One edge: how it stands, what it answered, by what it is known."""
    return _edge(request, product_by_slug(slug), name, {})


@page(Permission.ADMINISTER)
@require_POST
def rotate(request: HtmxRequest, slug: str, name: str) -> HttpResponse:
    """A new token, shown in this answer alone, or the certificate that comes next."""
    product, form = product_by_slug(slug), RotateEdgeForm(request.POST)
    if not form.is_valid():
        return _edge(request, product, name, {"rotate_form": form}, status=400)
    data, found = form.cleaned_data, product_edge(product, name)
    issued, token = services.rotate_edge(
        request.actor,
        found,
        data["reason"],
        credential_id=data["credential"],
        overlap=form.overlap,
        certificate=data["certificate"],
    )
    return _edge(request, product, name, {"issued": issued, "token": token})


@page(Permission.ADMINISTER)
@require_POST
def revoke(request: HtmxRequest, slug: str, name: str) -> HttpResponse:
    product, form = product_by_slug(slug), ReasonForm(request.POST, auto_id=FOR_GOOD)
    if not form.is_valid():
        return _edge(request, product, name, {"reason_form": form}, status=400)
    services.revoke_edge(request.actor, product_edge(product, name), **form.cleaned_data)
    return _done(request, product, name, f"Nothing that {name} shows counts any more.")


@page(Permission.ADMINISTER)
@require_POST
def retire(request: HtmxRequest, slug: str, name: str) -> HttpResponse:
    """What it still holds is let go only by saying so: the page comes back with the numbers."""
    product, form = product_by_slug(slug), RetireEdgeForm(request.POST, auto_id=FOR_GOOD)
    if not form.is_valid():
        return _edge(request, product, name, {"reason_form": form}, status=400)
    try:
        services.retire_edge(request.actor, product_edge(product, name), **form.cleaned_data)
    except Conflict as refused:
        if refused.code != "sequences_open":
            raise
        form.add_error("abandon", refused.detail)
        return _edge(request, product, name, {"reason_form": form}, status=409)
    return _done(request, product, name, f"{name} is out of service: nothing waits for it.")


@page(Permission.ADMINISTER)
@require_POST
def share(request: HtmxRequest, slug: str, name: str) -> HttpResponse:
    product, form = product_by_slug(slug), DeclareShareForm(request.POST)
    if not form.is_valid():
        return _edge(request, product, name, {"share_form": form}, status=400)
    services.declare_share(request.actor, product_edge(product, name), **form.cleaned_data)
    return _done(request, product, name, f"The declared weight of {name} is set.")


def _done(request: HtmxRequest, product: Product, name: str, words: str) -> HttpResponse:
    messages.success(request, words)
    return redirect("releases:edge", slug=product.slug, name=name)


def _edges(
    request: HtmxRequest, product: Product, extra: dict[str, Any], status: int = 200
) -> HttpResponse:
    current = latest(product)
    asked = request.GET.get("standing", ""), request.GET.get("page", "")
    context = {
        "product": product,
        "current": current,
        "fleet": fleet(product, current, *asked),
        "alarms": alarms(product),
        "pools": pool_facts(product),
        "query": request.GET.urlencode(),
        "may_administer": may(request.actor, Permission.ADMINISTER, product.slug),
        "form": RegisterEdgeForm(),
        **extra,
    }
    page, partial = "releases/edges.html", "releases/_edges.html"
    return render_page(request, page, partial, context, status=status)


def _edge(
    request: HtmxRequest, product: Product, name: str, extra: dict[str, Any], status: int = 200
) -> HttpResponse:
    current = latest(product)
    found = one_edge(product, name, current)
    context = {
        "product": product,
        "current": current,
        "found": found,
        "may_administer": may(request.actor, Permission.ADMINISTER, product.slug),
        **_forms(found),
        **extra,
    }
    page, partial = "releases/edge.html", "releases/_edge.html"
    return render_page(request, page, partial, context, status=status)


def _forms(found: OneEdge) -> dict[str, Form]:
    ending = RetireEdgeForm if found.left else ReasonForm
    return {
        "rotate_form": RotateEdgeForm(initial={"credential": found.edge.credential_id}),
        "reason_form": ending(auto_id=FOR_GOOD),
        "share_form": DeclareShareForm(initial={"share": found.edge.share}, auto_id="id_share_%s"),
    }
