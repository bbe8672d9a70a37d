"""Pages for acting alone at night, and for the second look afterwards."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.guard import Permission, page
from controlplane.errors import NotFound
from controlplane.web import HtmxRequest
from policies.selectors import product as product_by_slug
from releases.forms import CapForm, EmergencyForm, LookForm
from releases.models import Proposal, Rollout, SecondLook
from releases.selectors.urgent import urgent
from releases.selectors.waiting import second_looks
from releases.services import second_look
from releases.services.cap import cap_tenant
from releases.services.emergency import Seen, publish_in_emergency
from releases.services.issue import latest
from releases.states import OPEN_PROPOSALS, OPEN_ROLLOUTS
from releases.views.checks import checked
from releases.views.proposals import found


@page(Permission.EMERGENCY, step_up=True)
@require_safe
def emergency(request: HtmxRequest, slug: str) -> HttpResponse:
    """Cap one tenant, or read what an open proposal changes and publish it at once."""
    return _page(request, slug, CapForm(auto_id="cap-%s"))


def _page(request: HtmxRequest, slug: str, form: CapForm, status: int = 200) -> HttpResponse:
    product = product_by_slug(slug)
    proposals = Proposal.objects.filter(product=product, state__in=OPEN_PROPOSALS)
    proposals = proposals.select_related("generation", "product")
    current, chosen = latest(product), request.GET.get("proposal", "")
    row = next((one for one in proposals if str(one.pk) == chosen), None)
    context = {
        "product": product,
        "form": form,
        "current": current,
        "proposals": proposals,
        "rollout": Rollout.objects.filter(product=product, state__in=OPEN_ROLLOUTS).first(),
        "proposal": row,
        "urgent": urgent(row, current) if row and current else None,
    }
    return render(request, "releases/emergency.html", context, status=status)


@page(Permission.EMERGENCY, step_up=True)
@require_POST
def publish_now(request: HtmxRequest, slug: str) -> HttpResponse:
    data = checked(EmergencyForm(request.POST))
    publish_in_emergency(
        request.actor,
        found(slug, data["proposal"]),
        data["reason"],
        Seen(data["digest"], data["leaves"]),
        expected_version=data["expected_version"],
    )
    messages.success(request, "Published to everyone. Somebody else owes it a second look.")
    return redirect("releases:second-looks", slug=slug)


@page(Permission.EMERGENCY, step_up=True)
@require_POST
def cap(request: HtmxRequest, slug: str) -> HttpResponse:
    """Refused, it shows what was typed again: nobody types it twice at night."""
    form = CapForm(request.POST, auto_id="cap-%s")
    if not form.is_valid():
        return _page(request, slug, form, status=400)
    data = form.cleaned_data
    cap_tenant(
        request.actor,
        product_by_slug(slug),
        data["tenant"],
        data["window"],
        form.limits(),
        data["reason"],
    )
    messages.success(request, f"{data['tenant']} is capped. Somebody else owes it a second look.")
    return redirect("releases:second-looks", slug=slug)


@page(Permission.VIEW)
@require_safe
def looks(request: HtmxRequest, slug: str) -> HttpResponse:
    """What was done alone, who has looked at it, and who still has to."""
    product = product_by_slug(slug)
    context = {"product": product, "looks": second_looks(request.actor, product)}
    return render(request, "releases/second_looks.html", context)


@page(Permission.APPROVE)
@require_POST
def confirm(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(LookForm(request.POST))
    version = data["expected_version"]
    second_look.confirm(request.actor, _look(slug, pk), data["reason"], expected_version=version)
    messages.success(request, "Confirmed. It stands.")
    return redirect("releases:second-looks", slug=slug)


@page(Permission.APPROVE, step_up=True)
@require_POST
def revert(request: HtmxRequest, slug: str, pk: int) -> HttpResponse:
    data = checked(LookForm(request.POST))
    version = data["expected_version"]
    second_look.revert(request.actor, _look(slug, pk), data["reason"], expected_version=version)
    messages.success(request, "Undone. What was live before is wanted again.")
    return redirect("releases:overview", slug=slug)


def _look(slug: str, pk: int) -> SecondLook:
    rows = SecondLook.objects.select_related("product", "publication")
    look = rows.filter(pk=pk, product__slug=slug).first()
    if look is None:
        raise NotFound("not_found", f"{slug} has no second look {pk}.")
    return look
