"""Pages: how two documents decide what is recorded."""

from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from accounts.guard import Permission, page
from controlplane.web import HtmxRequest, render_page
from gates.selectors import shown
from gates.selectors.recorded_diff import decision_diff_of
from gates.services import ask_decision_diff
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def decision_diff(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    """How two documents decide the recorded requests; asks again by itself until it is done."""
    product = policies.product(slug)
    context = {"product": product, "diff": shown(decision_diff_of(product, pk))}
    return render_page(request, "gates/decision_diff.html", "gates/_decision_diff.html", context)


@require_POST
@page(Permission.PROPOSE)
def ask_diff(request: HtmxRequest, slug: str) -> HttpResponse:
    """Have two documents compared on what is recorded; leads to the answer's own page."""
    product = policies.product(slug)
    base, digest = request.POST.get("base_digest", ""), request.POST.get("digest", "")
    row = ask_decision_diff(request.actor, product, base, digest)
    return redirect("gates:decision_diff", slug=slug, pk=row.pk)
