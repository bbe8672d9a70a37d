"""Pages: what reopened a decision, and what people answered."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from accounts.guard import Permission, may, page
from controlplane.web import HtmxRequest, paged, render_page, whole_number
from gates.lifecycle import MOVES, Move, allowed
from gates.models import RevisitItem
from gates.selectors.revisit import revisit_item, revisit_items, waiting
from gates.services import revisit as service
from gates.states import RevisitState
from policies import selectors as policies


@require_GET
@page(Permission.VIEW)
def revisits(request: HtmxRequest, slug: str) -> HttpResponse:
    """Every item of a product, newest first; `state` narrows the list."""
    product, state = policies.product(slug), request.GET.get("state", "")
    rows = paged(revisit_items(product, state), request.GET.get("cursor", ""), field="opened_at")
    context = {
        "product": product,
        "page": rows,
        "state": state,
        "states": RevisitState.choices,
        "waiting": waiting(product),
    }
    return render_page(request, "gates/revisits.html", "gates/_revisits.html", context)


@require_GET
@page(Permission.VIEW)
def revisit(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    """One item with the evidence that it opened with, and what may be done about it."""
    product = policies.product(slug)
    return _shown(request, product, revisit_item(product, pk))


@require_POST
@page(Permission.PROPOSE)
def acknowledge(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    """Say that one looks into it."""
    row = revisit_item(policies.product(slug), pk)
    service.acknowledge(request.actor, row.pk, timezone.now(), _version(request))
    messages.success(request, "The item is yours.")
    return redirect("gates:revisit", slug=slug, pk=pk)


@require_POST
@page(Permission.APPROVE)
def resolve(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    """Answer an item with a reason."""
    row = revisit_item(policies.product(slug), pk)
    reason = request.POST.get("reason", "")
    service.resolve(request.actor, row.pk, timezone.now(), reason, _version(request))
    messages.success(request, "The item is resolved.")
    return redirect("gates:revisit", slug=slug, pk=pk)


def _version(request: HtmxRequest) -> int | None:
    """The version that the form was drawn for."""
    return whole_number(request.POST.get("expected_version", ""))


def _shown(request: HtmxRequest, product: object, row: RevisitItem) -> HttpResponse:
    can = {
        str(move): allowed(row, move)
        and may(request.actor, MOVES[row.status, move].needs, row.product.slug)
        for move in (Move.ACKNOWLEDGE, Move.RESOLVE)
    }
    context = {"product": product, "item": row, "can": can}
    return render_page(request, "gates/revisit.html", None, context)
