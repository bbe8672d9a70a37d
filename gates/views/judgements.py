"""Pages: the gates at a glance, and their history."""

from django.http import HttpResponse
from django.views.decorators.http import require_GET

from accounts.guard import Permission, page
from controlplane.errors import NotFound
from controlplane.web import HtmxRequest, paged, render_page
from gates.charts import frontier_plot
from gates.models import Evaluation
from gates.selectors import bounds_now, frontier, gates_now
from gates.selectors.verdicts import gates_of, history
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
