"""Pages of people's accounts, for whoever administers every product."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from accounts.forms import EndAccountForm, ReasonForm
from accounts.guard import Permission, page
from accounts.leaving import account, end_account, restore_account
from accounts.models import User
from controlplane.errors import Conflict
from controlplane.web import HtmxRequest, paged, render_page


@require_safe
@page(Permission.ADMINISTER, reading=True)
def people(request: HtmxRequest) -> HttpResponse:
    """Everybody who has or had an account, the newest first."""
    found = paged(User.objects.all(), request.GET.get("cursor", ""), field="date_joined")
    return render_page(request, "accounts/people.html", None, {"page": found})


@require_safe
@page(Permission.ADMINISTER, reading=True)
def one(request: HtmxRequest, name: str) -> HttpResponse:
    """What somebody may, which tokens stand on them, and the way out or back."""
    return _one(request, name)


@require_POST
@page(Permission.ADMINISTER)
def end(request: HtmxRequest, name: str) -> HttpResponse:
    """Tokens fall only by saying so: the page comes back with their names."""
    form = EndAccountForm(request.POST)
    if not form.is_valid():
        return _one(request, name, form, status=400)
    try:
        done = end_account(request.actor, name, **form.cleaned_data)
    except Conflict as refused:
        form.add_error("tokens_fall" if refused.code == "tokens_fall" else None, refused.detail)
        return _one(request, name, form, status=409)
    messages.success(request, f"{done.person.name} is let in no longer.")
    return redirect("accounts:person", name=name)


@require_POST
@page(Permission.ADMINISTER)
def restore(request: HtmxRequest, name: str) -> HttpResponse:
    form = ReasonForm(request.POST)
    if not form.is_valid():
        return _one(request, name, form, status=400)
    found = restore_account(request.actor, name, form.cleaned_data["reason"])
    messages.success(request, f"{found.person.name} is let in again.")
    return redirect("accounts:person", name=name)


def _one(
    request: HtmxRequest, name: str, form: ReasonForm | None = None, status: int = 200
) -> HttpResponse:
    found = account(request.actor, name)
    asked = EndAccountForm if found.person.is_active and found.tokens else ReasonForm
    context = {"found": found, "form": form or asked()}
    return render_page(request, "accounts/person.html", None, context, status=status)
