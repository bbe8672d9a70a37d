"""Pages: the evidence behind the gates."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from accounts.guard import Permission, may, page
from controlplane.errors import BadInput
from controlplane.web import HtmxRequest, paged, render_page
from gates.forms import EvidenceForm
from gates.selectors.coverage import gaps
from gates.services import push_evidence
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def evidence(request: HtmxRequest, slug: str) -> HttpResponse:
    """What quality evidence there is, what the live traffic lacks, and the form to push more."""
    return _evidence(request, slug, EvidenceForm())


@require_POST
@page(Permission.EVIDENCE_PUSH)
def push(request: HtmxRequest, slug: str) -> HttpResponse:
    """Push one cell of evidence from the page."""
    form = EvidenceForm(request.POST)
    if form.is_valid():
        try:
            _, created = push_evidence(
                request.actor,
                policies.product(slug),
                form.cleaned_data,
            )
        except BadInput as problem:
            form.add_error(None, f"{problem.detail} {problem.extra.get('errors', '')}")
        else:
            said = "Evidence stored." if created else "This evidence was here before."
            messages.success(request, said)
            return redirect("gates:evidence", slug=slug)
    return _evidence(request, slug, form, status=400)


def _evidence(
    request: HtmxRequest, slug: str, form: EvidenceForm, status: int = 200
) -> HttpResponse:
    product = policies.product(slug)
    context = {
        "product": product,
        "page": paged(product.evidence.all(), request.GET.get("cursor", "")),
        "gaps": gaps(product),
        "form": form,
        "may_push": may(request.actor, Permission.EVIDENCE_PUSH, slug),
    }
    return render_page(
        request, "gates/evidence.html", "gates/_evidence_list.html", context, status=status
    )
