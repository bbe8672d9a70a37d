"""Pages: trials with what they can support, recorded traffic, and bringing either."""

import hashlib
import json
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_GET, require_POST

from accounts.guard import Permission, may, page
from controlplane.web import HtmxRequest, paged, render_page
from ingest import services, trial_charts
from ingest.forms.trials import DeclareForm, TrialForm
from ingest.selectors import trials as reads
from ingest.services.trials import declare, declared_of
from policies import selectors as policies

GZIP_MAGIC = b"\x1f\x8b"


@require_GET
@page(Permission.VIEW)
def trials(request: HtmxRequest, slug: str) -> HttpResponse:
    return _trials(request, slug, TrialForm(), DeclareForm())


@require_POST
@page(Permission.INGEST)
def upload(request: HtmxRequest, slug: str) -> HttpResponse:
    """Bring a result or a trace with what is declared of it."""
    form, facts = TrialForm(request.POST, request.FILES), DeclareForm(request.POST)
    if not (form.is_valid() and facts.is_valid()):
        return _trials(request, slug, form, facts, status=400)
    body, key = form.cleaned_data["file"].read(), form.source_key()
    declared = declared_of(key.kind, form.given() | facts.cleaned_data)
    # The same file with other facts is another delivery of the same trial.
    about = json.dumps(declared, sort_keys=True).encode()
    batch, created = services.accept(
        policies.product(slug),
        key,
        f"upload-{key.kind}-{hashlib.sha256(body + about).hexdigest()}",
        key.kind,
        body,
        encoding="gzip" if body.startswith(GZIP_MAGIC) else "",
        meta=services.BatchMeta(declared=declared),
    )
    if not created:
        messages.info(request, "This file was here before; nothing is counted twice.")
    return redirect("ingest:batch", slug=slug, batch_pk=batch.pk)


def _trials(
    request: HtmxRequest, slug: str, form: TrialForm, facts: DeclareForm, status: int = 200
) -> HttpResponse:
    product = policies.product(slug)
    found = paged(reads.trials(product), request.GET.get("cursor", ""))
    context = {
        "product": product,
        "trials": found,
        "traces": reads.arrival_traces(product).order_by("-created_at", "-pk")[:50],
        "form": form,
        "facts": facts,
        "may_ingest": may(request.actor, Permission.INGEST, slug),
    }
    return render_page(request, "ingest/trials.html", None, context, status=status)


@require_GET
@page(Permission.VIEW)
def trial(request: HtmxRequest, slug: str, trial_pk: int) -> HttpResponse:
    return _trial(request, slug, trial_pk)


@require_POST
@page(Permission.INGEST)
def declare_facts(request: HtmxRequest, slug: str, trial_pk: int) -> HttpResponse:
    found = reads.trial_of(policies.product(slug), trial_pk)
    form = DeclareForm(request.POST)
    if not form.is_valid():
        return _trial(request, slug, trial_pk, form, status=400)
    declare(request.actor, found, form.cleaned_data)
    return redirect("ingest:trial", slug=slug, trial_pk=trial_pk)


def _trial(
    request: HtmxRequest,
    slug: str,
    trial_pk: int,
    form: DeclareForm | None = None,
    status: int = 200,
) -> HttpResponse:
    product = policies.product(slug)
    found = reads.trial_of(product, trial_pk)
    run = reads.run_of(found)
    context: dict[str, Any] = {
        "product": product,
        "trial": found,
        "run": run,
        "support": reads.support_of(found),
        "declarations": reads.declarations(found),
        "plot": trial_charts.latency_plot(run),
        "points": trial_charts.points_table([found]),
        "beside": trial_charts.side_by_side(run),
        "methods": trial_charts.methods_table(found),
        "metrics": trial_charts.metrics_table(found),
        "may_ingest": may(request.actor, Permission.INGEST, slug),
        "form": form or DeclareForm(initial=found.declared),
    }
    return render_page(request, "ingest/trial.html", None, context, status=status)


@require_GET
@page(Permission.VIEW)
def arrival_trace(request: HtmxRequest, slug: str, trace_pk: int) -> HttpResponse:
    product = policies.product(slug)
    trace = reads.arrival_trace_of(product, trace_pk)
    context = {
        "product": product,
        "trace": trace,
        "lengths": trial_charts.lengths_table(trace),
        "facts": trial_charts.traffic_facts(trace),
        "plot": trial_charts.traffic_plot(trace, reads.traffic_windows(trace.pk)),
    }
    return render_page(request, "ingest/arrival_trace.html", None, context)
