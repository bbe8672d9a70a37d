"""Pages of the contract: generations, one of them in sections, two of them compared."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_safe

from accounts.guard import Permission, may, page
from controlplane.errors import Problem
from controlplane.web import HtmxRequest, render_page, whole_number
from policies import documents, selectors, services
from policies.forms import DocumentForm, ProductForm, RevisionForm
from policies.models import Revision
from policies.reading import read


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
    context = {
        "product": product,
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


@require_http_methods(["GET", "HEAD", "POST"])
@page(Permission.PROPOSE)
def new_generation(request: HtmxRequest, slug: str) -> HttpResponse:
    """Draft the next generation, beginning from the text of an earlier one."""
    product = selectors.product(slug)
    latest = selectors.generations(product).first()
    base = selectors.revision(latest) if latest else None
    form = DocumentForm(request.POST or None, initial=_beginning(base))
    outcome: dict[str, Any] = {}
    if form.is_valid() and not (outcome := _checked(request, slug, form)):
        document, title = form.cleaned_data["document"], form.cleaned_data["title"]
        revision = services.draft_generation(request.actor, product, document, title, base)
        return _stored(request, revision)
    context = {"product": product, "form": form, "base": base, **outcome}
    return render_page(request, "policies/edit.html", None, context, status=_status(outcome))


@require_http_methods(["GET", "HEAD", "POST"])
@page(Permission.PROPOSE)
def revise(request: HtmxRequest, slug: str, number: int) -> HttpResponse:
    """Store the next text of a generation that is there."""
    product = selectors.product(slug)
    found = selectors.generation(product, number)
    latest = selectors.revision(found)
    beginning = {**_beginning(latest), "expected_revision": latest.number}
    form = RevisionForm(request.POST or None, initial=beginning)
    outcome: dict[str, Any] = {}
    if form.is_valid() and not (outcome := _checked(request, slug, form)):
        document, expected = form.cleaned_data["document"], form.cleaned_data["expected_revision"]
        return _stored(request, services.revise(request.actor, found, document, expected))
    context = {"product": product, "form": form, "base": latest, "generation": found, **outcome}
    return render_page(request, "policies/edit.html", None, context, status=_status(outcome))


def _sections(revision: Revision) -> dict[str, Any]:
    document = selectors.document_of(revision.digest)
    fleet = documents.fleet(document)
    return {
        "revision": revision,
        "generation": revision.generation,
        "document": document,
        "findings": selectors.findings(revision),
        "fleet": fleet,
        "ledger": documents.ledger_table(document),
        "residency": documents.residency_table(fleet.residency) if fleet.residency else None,
        "demand": documents.demand_table(document),
        "text": documents.as_yaml(revision.document),
    }


def _beginning(base: Revision | None) -> dict[str, Any]:
    return {"document": documents.as_yaml(base.document)} if base else {}


def _checked(request: HtmxRequest, slug: str, form: DocumentForm) -> dict[str, Any]:
    """What to show instead of storing: faults of the text, or the findings that were asked for."""
    try:
        loaded = read(slug, form.cleaned_data["document"])
    except Problem as problem:
        return {"problem": problem}
    if "check" in request.POST:
        return {"findings": selectors.findings_of(loaded.document), "checked": True}
    return {}


def _stored(request: HtmxRequest, revision: Revision) -> HttpResponse:
    generation = revision.generation
    messages.success(
        request, f"Generation {generation.number} is stored as revision {revision.number}."
    )
    return redirect("policies:generation", slug=generation.product.slug, number=generation.number)


def _status(outcome: dict[str, Any]) -> int:
    problem = outcome.get("problem")
    return problem.status if problem else 200
