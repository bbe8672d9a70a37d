"""Pages: predictions beside what came of them, one shape, and the generation that it calls for."""

from collections.abc import Sequence
from typing import Any

import yaml
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.guard import Permission, may, page
from controlplane.errors import NotFound
from controlplane.web import HtmxRequest, render_page
from gates import calibration_words as words
from gates.charts.calibration import coverage_plot, predicted_plot, reliability_plot
from gates.charts.calibration_cell import days_plot, ratios_plot
from gates.selectors.calibration import Calibrated, calibrated, days_of
from gates.selectors.prefix_reads import prefix_reads
from gates.services.calibration_draft import draft_cells, with_cells
from orchid.engine.calibration.drift import RUN_LENGTH
from orchid.engine.calibration.observed import Measure
from orchid.engine.calibration.samples import Cell
from policies import selectors as policies

#: Watches that are listed where nothing moved: those that are nearest to it.
SHOWN = 8


@require_GET
@page(Permission.VIEW)
def calibration(request: HtmxRequest, slug: str) -> HttpResponse:
    """Every shape against its promise, the worst first, for one measure."""
    product, now = policies.product(slug), timezone.now()
    found = calibrated(product, now)
    measure = _measure(request, [row.key.measure for row in found.rows])
    rows, watches = found.of(measure), _watches(found)
    context = {
        "product": product,
        "found": found,
        "measure": measure,
        "measures": [(one, words.LABELS[one], len(found.of(one))) for one in Measure],
        "question": words.QUESTIONS[measure],
        "rows": rows,
        "plots": [predicted_plot(rows, measure), coverage_plot(rows)] if rows else [],
        "reliability": reliability_plot(found.reliability) if found.reliability else None,
        "watches": watches[: max(SHOWN, sum(one["row"].alarm_at is not None for one in watches))],
        "watched": len(watches),
        "run_length": RUN_LENGTH,
        "prefix": prefix_reads(product, now),
        "fragment": _fragment(found),
        "may_propose": may(request.actor, Permission.PROPOSE, slug),
    }
    return render_page(request, "gates/calibration.html", None, context)


@require_GET
@page(Permission.VIEW)
def calibration_cell(request: HtmxRequest, slug: str) -> HttpResponse:
    """One shape: every measure of it, how its ratios are spread, and how they moved."""
    product, found = policies.product(slug), calibrated(policies.product(slug), timezone.now())
    cell = Cell(*(request.GET.get(name, "") for name in ("route", "input", "output")))
    rows = found.of_cell(cell)
    if not rows:
        raise NotFound("not_found", f"Nothing was recorded of {words.shape(cell)}.")
    measure = _measure(request, [row.key.measure for row in rows])
    mine = [row for row in rows if row.key.measure is measure]
    days = [day for day in days_of(product, [rows[0].key]) if day.measure == measure]
    context = {
        "product": product,
        "found": found,
        "cell": cell,
        "title": words.shape(cell),
        "rows": rows,
        "measure": measure,
        "measures": [(m, words.LABELS[m]) for m in Measure if m in {r.key.measure for r in rows}],
        "plots": [ratios_plot(mine, days), days_plot(days, mine[0].unit)] if mine else [],
        "watches": [watch for watch in _watches(found) if watch["cell"] == cell],
        "run_length": RUN_LENGTH,
    }
    return render_page(request, "gates/calibration_cell.html", None, context)


@require_POST
@page(Permission.PROPOSE)
def draft(request: HtmxRequest, slug: str) -> HttpResponse:
    """Draft the generation that the verdicts call for; leads to its page."""
    product = policies.product(slug)
    found = calibrated(product, timezone.now())
    revision, new = draft_cells(request.actor, product, found.digest, found.proposal)
    said = "Drafted. Look at it, and propose it." if new else "This was drafted before."
    messages.success(request, said)
    return redirect("policies:generation", slug=slug, number=revision.generation.number)


def _measure(request: HttpRequest, recorded: Sequence[Measure]) -> Measure:
    """The one asked for, else the first of which anything is recorded."""
    asked = request.GET.get("measure", "")
    if asked in set(Measure):
        return Measure(asked)
    return next((one for one in Measure if one in recorded), Measure.WORK)


def _fragment(found: Calibrated) -> str:
    """The `demand:` section's cells as they would stand in the document."""
    if not found.proposal:
        return ""
    demand = with_cells(policies.given_of(found.digest), found.proposal)["demand"]
    cells = {"version": demand["version"], "cells": demand["cells"]}
    return yaml.safe_dump({"demand": cells}, sort_keys=False).rstrip()


def _watches(found: Calibrated) -> list[dict[str, Any]]:
    """What has moved first, then what is nearest to an alarm."""
    rows = [
        {"cell": key.cell, "measure": words.LABELS[key.measure], "version": key.version, "row": row}
        for key, row in found.watches.items()
        if row.blocks
    ]
    return sorted(rows, key=lambda one: (one["row"].alarm_at is None, -one["row"].evidence))
