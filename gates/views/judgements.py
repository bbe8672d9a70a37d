"""Pages: the gates at a glance, one gate over time, every segment, and each judgement."""

from datetime import MAXYEAR, MINYEAR, datetime
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.guard import Permission, page
from controlplane.errors import BadInput, NotFound
from controlplane.web import HtmxRequest, paged, render_page
from gates.charts import frontier_plot
from gates.charts.history import history_plot
from gates.models import Evaluation
from gates.selectors import bounds_now, frontier, gates_now
from gates.selectors.heat_map import heat_map
from gates.selectors.history import (
    DEFAULT_SPAN,
    SPANS,
    Period,
    history_of,
    judged_at,
    trends,
)
from gates.selectors.verdicts import accepted_of, beside_gates, gates_of, history
from gates.states import Metric
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def now(request: HtmxRequest, slug: str) -> HttpResponse:
    """What stands worst, what happens now, five gates, and every gated segment against them."""
    product = policies.product(slug)
    found = gates_now(product)
    context: dict[str, Any] = {"product": product, "gates_now": found}
    if found.evaluation:
        context["trends"] = trends(product, found.evaluation.evaluated_at)
        context["beside"] = beside_gates(found.evaluation)
        context["accepted"] = accepted_of(found.evaluation)
    if not request.htmx:
        context["frontier"] = frontier_plot(frontier(product), bounds_now(product))
    return render_page(request, "gates/now.html", "gates/_live.html", context)


@require_GET
@page(Permission.VIEW)
def segments(request: HtmxRequest, slug: str) -> HttpResponse:
    """Every segment of the live traffic against every gate and its floor."""
    product = policies.product(slug)
    context = {"product": product, "map": heat_map(product)}
    return render_page(request, "gates/heat_map.html", "gates/_heat_map.html", context)


@require_GET
@page(Permission.VIEW)
def gate(request: HtmxRequest, slug: str, metric: str) -> HttpResponse:
    """One gate over time, on the whole or in a gated segment."""
    product = policies.product(slug)
    if metric not in Metric.values:
        raise NotFound("not_found", f"There is no gate {metric}.")
    span = request.GET.get("span", DEFAULT_SPAN)
    period = _period(span, request.GET.get("until", ""))
    segment = request.GET.get("segment", "")
    found = history_of(product, Metric(metric), segment, period)
    judged = judged_at(product, period)
    context = {
        "product": product,
        "history": found,
        "plot": history_plot(found) if found.points else None,
        "metrics": [one for one in Metric if one in judged or one == metric],
        "segments": judged.get(metric, []),
        "spans": list(SPANS),
        "span": span,
    }
    return render_page(request, "gates/history.html", "gates/_history.html", context)


@require_GET
@page(Permission.VIEW)
def evaluations(request: HtmxRequest, slug: str) -> HttpResponse:
    """Judgements, newest first: all of them, or those at which something changed."""
    product = policies.product(slug)
    only = request.GET.get("show", "changes") != "all"
    rows = history(product).filter(changed=True) if only else history(product)
    context = {
        "product": product,
        "page": paged(rows, request.GET.get("cursor", ""), field="evaluated_at"),
        "only_changes": only,
        "query": "" if only else "show=all&",
    }
    return render_page(request, "gates/evaluations.html", "gates/_evaluations.html", context)


@require_GET
@page(Permission.VIEW)
def evaluation(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    """One judgement: its validity, its verdict, what follows from it, and all its figures."""
    product = policies.product(slug)
    found = Evaluation.objects.filter(pk=pk, window__product=product).select_related("window")
    row = found.first()
    if row is None:
        raise NotFound("not_found", f"{slug} has no evaluation {pk}.")
    context = {
        "product": product,
        "evaluation": row,
        "gates": gates_of(row),
        "beside": beside_gates(row),
        "accepted": accepted_of(row),
    }
    return render_page(request, "gates/evaluation.html", None, context)


def _period(span: str, until: str) -> Period:
    """The period asked for; raises BadInput for a span or a moment that is none."""
    if span not in SPANS:
        raise BadInput("unknown_span", f"A span is one of {', '.join(SPANS)}.")
    try:
        end = datetime.fromisoformat(until) if until else timezone.now()
        if end.tzinfo is None:
            raise ValueError("no offset")
        # The page leads to the periods beside this one as well.
        if not MINYEAR < end.year < MAXYEAR:
            raise ValueError("the end of the calendar")
        return Period(end - SPANS[span], end)
    except (ValueError, OverflowError) as error:
        raise BadInput("bad_time", f"`until` is a time with an offset: {error}.") from error
