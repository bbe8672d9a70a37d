"""Pages on which a document is written, checked while it is, and stored."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from accounts.guard import Permission, page
from controlplane.errors import Conflict
from controlplane.web import HtmxRequest, render_page
from orchid.engine.document.written import as_yaml
from policies import selectors, services
from policies.documents import document_diff
from policies.drafting import Content, Draft, drafted
from policies.forms import DocumentForm, RevisionForm
from policies.models import Generation, Revision
from policies.sections.capacity import scenario_table
from policies.sections.demand import demand_brief
from policies.views.few import one_of_few


@require_http_methods(["GET", "HEAD", "POST"])
@page(Permission.PROPOSE)
def new_generation(request: HtmxRequest, slug: str) -> HttpResponse:
    """Draft the next generation, beginning from the text of the latest one."""
    product = selectors.product(slug)
    latest = selectors.generations(product).first()
    base = selectors.revision(latest) if latest else None
    form = DocumentForm(request.POST or None, initial=_beginning(base))
    draft = _draft(request, slug, form, base)
    if _is_to_store(request, form, draft):
        document, title = form.cleaned_data["document"], form.cleaned_data["title"]
        revision = services.draft_generation(request.actor, product, document, title, base)
        return _stored(request, revision)
    return _edited(request, {"product": product, "form": form, "base": base, "draft": draft})


@require_http_methods(["GET", "HEAD", "POST"])
@page(Permission.PROPOSE)
def revise(request: HtmxRequest, slug: str, number: int) -> HttpResponse:
    """Store the next text of a generation that is there."""
    product = selectors.product(slug)
    found = selectors.generation(product, number)
    latest = selectors.revision(found)
    beginning = {**_beginning(latest), "expected_revision": latest.number}
    form = RevisionForm(request.POST or None, initial=beginning)
    draft = _draft(request, slug, form, latest.base or latest)
    context = {"product": product, "form": form, "base": latest, "generation": found}
    if _is_to_store(request, form, draft):
        document, expected = form.cleaned_data["document"], form.cleaned_data["expected_revision"]
        try:
            return _stored(request, services.revise(request.actor, found, document, expected))
        except Conflict:
            return _both(request, {**context, "draft": draft})
    return _edited(request, {**context, "draft": draft})


def _both(request: HtmxRequest, context: dict[str, Any]) -> HttpResponse:
    """Somebody stored another text meanwhile: both of them, and the choice which one stays."""
    found: Generation = context["generation"]
    theirs = selectors.revision(found)
    again = request.POST.copy()
    again["expected_revision"] = str(theirs.number)
    draft: Draft | None = context["draft"]
    mine = draft.content.loaded.given if draft and draft.content else {}
    told = {
        **context,
        "base": theirs,
        "form": RevisionForm(again),
        "theirs": theirs,
        "their_text": as_yaml(theirs.document),
        "lines": document_diff(theirs.document, mine),
    }
    return _edited(request, told, status=409)


def _beginning(base: Revision | None) -> dict[str, Any]:
    return {"document": as_yaml(base.document)} if base else {}


def _draft(
    request: HtmxRequest, slug: str, form: DocumentForm, base: Revision | None
) -> Draft | None:
    """The check of the text as it stands in the form; None for an empty one."""
    text = form["document"].value() or ""
    if not text.strip():
        return None
    if not request.htmx:
        return drafted(slug, text, base)
    with one_of_few():
        return drafted(slug, text, base)


def _is_to_store(request: HtmxRequest, form: DocumentForm, draft: Draft | None) -> bool:
    if "check" in request.POST or not form.is_valid():
        return False
    return draft is not None and draft.content is not None


def _edited(request: HtmxRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """The editor, or only its checks while somebody types."""
    draft: Draft | None = context["draft"]
    told = {
        **context,
        "schema_url": request.build_absolute_uri(reverse("policy_schema")),
        **(_figures(draft.content) if draft and draft.content else {}),
    }
    is_refused = request.method == "POST" and draft is not None and bool(draft.faults)
    # htmx shows only what succeeds, and to tell of faults is what the check was asked for.
    status = 422 if is_refused and not request.htmx else status
    return render_page(request, "policies/edit.html", "policies/_draft.html", told, status=status)


def _figures(content: Content) -> dict[str, Any]:
    document = content.loaded.document
    return {"demand": demand_brief(document), "scenarios": scenario_table(document)}


def _stored(request: HtmxRequest, revision: Revision) -> HttpResponse:
    generation = revision.generation
    messages.success(
        request, f"Generation {generation.number} is stored as revision {revision.number}."
    )
    return redirect("policies:generation", slug=generation.product.slug, number=generation.number)
