"""Pages of the contract: generations, one of them in sections, two of them compared."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from accounts.guard import Permission, may, page
from controlplane.errors import Problem
from controlplane.web import HtmxRequest, render_page, whole_number
from orchid.engine.document.written import as_yaml
from policies import documents, selectors, services
from policies.forms import ProductForm
from policies.models import Revision
from policies.sections import capacity, cost, demand, latency, limits, memory, routing, what_if


@require_http_methods(["GET", "HEAD", "POST"])
@page(Permission.ADMINISTER)
def new_product(request: HtmxRequest) -> HttpResponse:
    form = ProductForm(request.POST or None)
    problem = None
    if form.is_valid():
        try:
            product = services.create_product(request.actor, **form.cleaned_data)
        except Problem as refused:
            problem = refused
        else:
            messages.success(request, f"{product.name} has its first generation as a draft.")
            return redirect("policies:generation", slug=product.slug, number=1)
    context = {"form": form, "problem": problem}
    status = problem.status if problem else 200
    return render_page(request, "policies/new_product.html", None, context, status=status)


@require_safe
@page(Permission.VIEW)
def generations(request: HtmxRequest, slug: str) -> HttpResponse:
    product = selectors.product(slug)
    context = {
        "product": product,
        "generations": selectors.generations(product),
        "may_propose": may(request.actor, Permission.PROPOSE, slug),
    }
    return render_page(request, "policies/generations.html", None, context)


@require_safe
@page(Permission.VIEW)
def generation(request: HtmxRequest, slug: str, number: int) -> HttpResponse:
    product = selectors.product(slug)
    found = selectors.generation(product, number)
    revision = selectors.revision(found, whole_number(request.GET.get("revision", "")))
    document = selectors.document_of(revision.digest)
    context = {
        "product": product,
        "what_if": what_if.asked(document, request.GET.get("what_if", "")),
        "card": cost.cost_card(document, request.GET.get("at", "")),
        "may_propose": may(request.actor, Permission.PROPOSE, slug),
        "others": selectors.generations(product).exclude(pk=found.pk),
        **_sections(revision),
    }
    return render_page(request, "policies/generation.html", None, context)


@require_safe
@page(Permission.VIEW)
def difference(request: HtmxRequest, slug: str, number: int, base: int) -> HttpResponse:
    product = selectors.product(slug)
    before = selectors.revision(selectors.generation(product, base))
    after = selectors.revision(selectors.generation(product, number))
    context = {
        "product": product,
        "comparison": selectors.compared(before, after),
        "lines": documents.document_diff(before.document, after.document),
    }
    return render_page(request, "policies/difference.html", None, context)


def _sections(revision: Revision) -> dict[str, Any]:
    """Everything that is computed from the document alone."""
    document = selectors.document_of(revision.digest)
    return {
        "revision": revision,
        "generation": revision.generation,
        "document": document,
        "findings": selectors.findings(revision),
        "demand": demand.demand_plot(document),
        "fleet": capacity.fleet_facts(document),
        "scenarios": capacity.scenario_table(document),
        "headroom": capacity.headroom_table(document),
        "residency": memory.residency_table(document),
        "live_tokens": memory.routes_table(document),
        "holdings": memory.classes_table(document),
        "latency": latency.latency_plot(document),
        "ledger": cost.ledger_table(document),
        "routes": routing.rules_table(document),
        "cascade": routing.cascade_facts(document),
        "both_calls": routing.both_table(document),
        "shares": limits.shares_table(document),
        "ladder": limits.ladder_table(document),
        "text": as_yaml(revision.document),
    }
