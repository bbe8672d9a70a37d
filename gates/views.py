"""Pages: the gates at a glance, their history, and the evidence behind them."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from accounts.guard import Permission, may, page
from controlplane.errors import BadInput, NotFound
from controlplane.web import HtmxRequest, paged, render_page
from gates.charts import frontier_plot
from gates.forms import EvidenceForm
from gates.models import Evaluation
from gates.selectors import bounds_now, frontier, gates_now, shown
from gates.selectors.coverage import gaps
from gates.selectors.recorded_diff import decision_diff_of
from gates.selectors.verdicts import gates_of, history
from gates.services import ask_decision_diff, push_evidence
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def now(request: HtmxRequest, slug: str) -> HttpResponse:
    """Five gates, the worst segment of each, and every segment against every gate."""
    product = policies.product(slug)
    context = {
        "product": product,
        "gates_now": gates_now(product),
        "frontier": frontier_plot(frontier(product), bounds_now(product)),
    }
    return render_page(request, "gates/now.html", "gates/_live.html", context)


@require_GET
@page(Permission.VIEW)
def evaluations(request: HtmxRequest, slug: str) -> HttpResponse:
    """Every judgement, newest first."""
    product = policies.product(slug)
    rows = paged(history(product), request.GET.get("cursor", ""), field="evaluated_at")
    context = {"product": product, "page": rows}
    return render_page(request, "gates/evaluations.html", "gates/_evaluations.html", context)


@require_GET
@page(Permission.VIEW)
def evaluation(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    """One judgement with all its figures."""
    product = policies.product(slug)
    found = Evaluation.objects.filter(pk=pk, window__product=product).select_related("window")
    row = found.first()
    if row is None:
        raise NotFound("not_found", f"{slug} has no evaluation {pk}.")
    context = {"product": product, "evaluation": row, "gates": gates_of(row)}
    return render_page(request, "gates/evaluation.html", None, context)


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
