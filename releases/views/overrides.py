"""Ask that an inconclusive stage go on, and stand behind what somebody else asked."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from accounts.guard import Permission, page
from controlplane.errors import NotFound
from releases.forms import MoveForm, OverrideForm
from releases.models import Override, Rollout
from releases.services import override
from releases.views.checks import checked


@page(Permission.OVERRIDE)
@require_POST
def ask(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    rollout = Rollout.objects.select_related("product").filter(pk=pk, product__slug=slug).first()
    if rollout is None:
        raise NotFound("not_found", f"{slug} has no rollout {pk}.")
    data = checked(OverrideForm(request.POST))
    actor = request.actor  # type: ignore[attr-defined]
    override.ask(actor, rollout, data["evaluation"], data["reason"])
    messages.success(request, "Asked. A second person has to confirm it.")
    return redirect("releases:rollout", slug=slug)


@page(Permission.OVERRIDE)
@require_POST
def confirm(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    row = Override.objects.filter(pk=pk, product__slug=slug).first()
    if row is None:
        raise NotFound("not_found", f"{slug} has no override {pk}.")
    version = checked(MoveForm(request.POST))["expected_version"]
    override.confirm(request.actor, row, expected_version=version)  # type: ignore[attr-defined]
    messages.success(request, "Confirmed. The stage may go on by this override.")
    return redirect("releases:rollout", slug=slug)
