"""Pages: what was spent and for whom, and what tenants used of their budgets."""

import csv
from io import StringIO
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_GET

from accounts.guard import Permission, page
from controlplane.web import HtmxRequest, render_page
from gates.charts.economics import allocation_plot, waste_plot, waterfall_plot
from gates.economics_words import (
    apart_table,
    budget_table,
    heads,
    hours_table,
    measured_words,
    rule_words,
    standings,
    tiles,
    wasted_table,
)
from gates.selectors.book_rows import COLUMNS, ROUTE, lines_by, rows
from gates.selectors.budgets import budgets as budgets_of
from gates.selectors.economics import Books, books
from gates.selectors.months import months
from gates.selectors.periods import labels, period_of
from policies import selectors as policies
from policies.models import Product


@require_GET
@page(Permission.VIEW)
def economics(request: HtmxRequest, slug: str) -> HttpResponse:
    """The ledger of a period, laid on routes, tenants or segments; its waste and its months."""
    product = policies.product(slug)
    found, by = _asked(request, product), request.GET.get("by", "") or ROUTE
    lines, whole = lines_by(found, by), found.by_cell.whole
    direct = sum(charge.direct for charge in found.by_cell.allocated.charges.values())
    context: dict[str, Any] = {
        "product": product,
        "books": found,
        "periods": labels(),
        "by": by,
        "heads": heads(found),
        "measured": measured_words(found),
        "tiles": tiles(found),
        "whole": whole,
        "waterfall": waterfall_plot(found),
        "allocation": allocation_plot(lines, by.replace("_", " "), found.by_cell.total),
        "waste": waste_plot(whole, direct) if whole.wasted.usd else None,
        "wasted_by": wasted_table(lines, by.replace("_", " ")),
        "apart": apart_table(found),
        "hours": hours_table(found),
        "rule": rule_words(found.live) if found.live else [],
        "months": months(product, request.GET.get("baseline", "")),
        "query": _query(request),
    }
    return render_page(request, "gates/economics.html", "gates/_economics.html", context)


@require_GET
@page(Permission.VIEW)
def economics_csv(request: HtmxRequest, slug: str) -> HttpResponse:
    """The same as a spreadsheet opens it: a row a name, the sum of `total_usd` is the ledger."""
    product = policies.product(slug)
    found = _asked(request, product)
    by = request.GET.get("by", "") or ROUTE
    text = StringIO()
    told = csv.DictWriter(text, ["from", "to", *COLUMNS])
    told.writeheader()
    for row in rows(found, by):
        span = {"from": found.period.start.isoformat(), "to": found.period.end.isoformat()}
        told.writerow({name: _safe(value) for name, value in {**span, **row}.items()})
    name = f"{slug}-{by}-{found.period.start:%Y%m%dT%H%M}-{found.period.end:%Y%m%dT%H%M}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(text.getvalue(), "text/csv; charset=utf-8", headers=headers)


@require_GET
@page(Permission.VIEW)
def budgets(request: HtmxRequest, slug: str) -> HttpResponse:
    """Use of every cap by every tenant, those near it first."""
    product = policies.product(slug)
    found = budgets_of(product, timezone.now())
    context = {
        "product": product,
        "budgets": found,
        "table": budget_table(found) if found and found.uses else None,
        "standings": standings(found) if found else [],
    }
    return render_page(request, "gates/budgets.html", "gates/_budgets.html", context)


def _asked(request: HtmxRequest, product: Product) -> Books:
    asked = (request.GET.get(name, "") for name in ("period", "from", "to"))
    return books(product, period_of(product, timezone.now(), *asked))


def _query(request: HtmxRequest) -> str:
    """The query as it was asked, for the download."""
    kept = {
        name: request.GET[name] for name in ("period", "from", "to", "by") if name in request.GET
    }
    query = request.GET.copy()
    query.clear()
    query.update(kept)
    return query.urlencode()


def _safe(value: Any) -> Any:
    """A name that a spreadsheet would take for a formula is text."""
    is_formula = isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r")
    return f"'{value}" if is_formula else value
