"""Pages: the model servers that are asked how they are, and one of them with all it told."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.guard import Permission, may, page
from controlplane.errors import BadInput, Conflict, Invalid
from controlplane.web import HtmxRequest, render_page
from ingest.forms.servers import ServerForm
from ingest.selectors import servers as selectors
from ingest.selectors.figures import source_histograms
from ingest.selectors.hidden import NEVER_TOLD, side_by_side
from ingest.services import servers as services
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def servers(request: HtmxRequest, slug: str) -> HttpResponse:
    return _servers(request, slug, ServerForm())


def _servers(request: HtmxRequest, slug: str, form: ServerForm, status: int = 200) -> HttpResponse:
    product = policies.product(slug)
    context = {
        "product": product,
        "rows": selectors.servers(product),
        "form": form,
        "may_ingest": may(request.actor, Permission.INGEST, slug),
    }
    return render_page(
        request, "ingest/servers.html", "ingest/_servers.html", context, status=status
    )


@require_POST
@page(Permission.INGEST)
def register(request: HtmxRequest, slug: str) -> HttpResponse:
    form = ServerForm(request.POST)
    if form.is_valid():
        product, name = policies.product(slug), form.cleaned_data["name"]
        try:
            services.register(request.actor, product, name, form.wish())
            return redirect("ingest:server", slug=slug, name=name)
        except (BadInput, Conflict, Invalid) as refused:
            form.add_error(None, refused.detail)
    return _servers(request, slug, form, status=400)


@require_GET
@page(Permission.VIEW)
def server(request: HtmxRequest, slug: str, name: str) -> HttpResponse:
    row = selectors.server_of(policies.product(slug), name)
    return _server(request, slug, row, ServerForm.of(row.server))


def _server(
    request: HtmxRequest,
    slug: str,
    row: selectors.ServerRow,
    form: forms.Form,
    status: int = 200,
) -> HttpResponse:
    found = selectors.counted(row.server)
    context: dict[str, Any] = {
        "product": row.server.product,
        "row": row,
        "models": selectors.models_of(row),
        "counted": found,
        "histograms": source_histograms(row.server.source),
        "compared": side_by_side(row.server.product, found.figures, row.server.created_at),
        "never_told": NEVER_TOLD,
        "changes": selectors.changes(row.server),
        "form": form,
        "may_ingest": may(request.actor, Permission.INGEST, slug),
    }
    return render_page(request, "ingest/server.html", "ingest/_server.html", context, status=status)


@require_POST
@page(Permission.INGEST)
def change(request: HtmxRequest, slug: str, name: str) -> HttpResponse:
    row = selectors.server_of(policies.product(slug), name)
    form = ServerForm({**request.POST.dict(), "name": name})
    if form.is_valid():
        try:
            services.change(request.actor, row.server, form.wish())
            messages.success(request, f"{name} is checked again in a moment.")
            return redirect("ingest:server", slug=slug, name=name)
        except BadInput as refused:
            form.add_error(None, refused.detail)
    return _server(request, slug, row, form, status=400)


@require_POST
@page(Permission.INGEST)
def move(request: HtmxRequest, slug: str, name: str, what: str) -> HttpResponse:
    """One of the moves that need nothing but a click."""
    row = selectors.server_of(policies.product(slug), name)
    messages.success(request, MOVES[what](request, row))
    if what == "forget":
        return redirect("ingest:servers", slug=slug)
    return redirect("ingest:server", slug=slug, name=name)


def _check(request: HtmxRequest, row: selectors.ServerRow) -> str:
    services.check_now(request.actor, row.server, timezone.now())
    return f"{row.server} is being checked."


def _accept(request: HtmxRequest, row: selectors.ServerRow) -> str:
    services.accept(request.actor, row.server)
    return f"{row.server} is held to what it has now."


def _flush(request: HtmxRequest, row: selectors.ServerRow) -> str:
    services.flush_traces(request.actor, row.server)
    return f"{row.server} has written the traces that it held."


def _forget(request: HtmxRequest, row: selectors.ServerRow) -> str:
    services.forget(request.actor, row.server)
    return f"{row.server} is asked no more; what it told stays."


MOVES = {"check": _check, "accept": _accept, "flush": _flush, "forget": _forget}
