"""Pages: why a gate moved, and the generation that would mend it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from accounts.guard import Permission, may, page
from controlplane.web import HtmxRequest, render_page, whole_number
from gates.charts.diagnosis import parts_table, segments_plot
from gates.diagnosis_words import change_words, outlook_table
from gates.selectors.declared_cases import declared_cases
from gates.selectors.diagnosis import Diagnosis, diagnosis, metrics_of, windows_of
from gates.services.diagnosis import draft_change
from orchid.engine.verdict.gates import scopes
from policies import selectors as policies
from policies.models import Product


@require_GET
@page(Permission.VIEW)
def diagnose(request: HtmxRequest, slug: str) -> HttpResponse:
    """What moved a gate between two stretches of traffic, ranked, and what is proposed."""
    product = policies.product(slug)
    found = asked(product, request.GET)
    context = {
        "product": product,
        "found": found,
        "windows": windows_of(product),
        "cases": declared_cases(product),
        "may_propose": may(request.actor, Permission.PROPOSE, slug),
        "asked": request.GET,
        **(_shown(found) if found else {}),
    }
    return render_page(request, "gates/diagnosis.html", "gates/_diagnosis.html", context)


@require_POST
@page(Permission.PROPOSE)
def draft_diagnosed(request: HtmxRequest, slug: str) -> HttpResponse:
    """Draft the generation with the proposed change; leads to its page."""
    product = policies.product(slug)
    revision, new = draft_change(
        request.actor, product, asked(product, request.POST), request.POST.get("words", "")
    )
    said = "Drafted. Look at it, and propose it." if new else "This was drafted before."
    messages.success(request, said)
    return redirect("policies:generation", slug=slug, number=revision.generation.number)


def asked(product: Product, given: QueryDict) -> Diagnosis | None:
    """The diagnosis that a form, an address or a body asks for."""
    numbers = {name: whole_number(given.get(name) or "") for name in ("after", "before", "minutes")}
    return diagnosis(product, given.get("metric") or "", given.get("segment") or "", **numbers)


def _shown(found: Diagnosis) -> dict[str, Any]:
    change = found.change
    return {
        "metrics": metrics_of(found.document),
        "segments": [scope.name for scope in scopes(found.document)],
        "said": change_words(found),
        "plot": segments_plot(found) if change.parts else None,
        "parts": parts_table(found) if change.parts else None,
        "outlook": outlook_table(found.proposal) if found.proposal else None,
    }
