"""The page of who and what may enter a product: people, invitations, machines."""

from datetime import timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from accounts import invitations, selectors, services
from accounts.forms import (
    CredentialForm,
    InviteForm,
    RevokeForm,
    RoleForm,
    RotateForm,
    TakeRoleForm,
    WithdrawForm,
)
from accounts.guard import Permission, may, page
from accounts.models import User
from accounts.roles import EVERY_PRODUCT
from accounts.services.rotation import rotate_credential
from controlplane.errors import BadInput
from controlplane.web import HtmxRequest, render_page

#: The page has two forms with a role, whose fields may not share an id.
GIVE_IDS = "give_%s"


@require_safe
@page(Permission.ADMINISTER, reading=True)
def access(request: HtmxRequest, slug: str) -> HttpResponse:
    return _page(request, slug, {})


@require_POST
@page(Permission.ADMINISTER)
def invite(request: HtmxRequest, slug: str) -> HttpResponse:
    form = InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, slug, {"invite_form": form}, status=400)
    made, secret = invitations.invite(request.actor, product_slug=slug, **form.cleaned_data)
    link = request.build_absolute_uri(reverse("accounts:invitation", args=[secret]))
    mailed = invitations.send_link(made, link)
    return _page(request, slug, {"invited": made, "link": link, "mailed": mailed})


@require_POST
@page(Permission.ADMINISTER)
def withdraw(request: HtmxRequest, slug: str) -> HttpResponse:
    """Close the link of an invitation that nobody has taken up."""
    form = WithdrawForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Name the invitation that is withdrawn.")
    else:
        found = invitations.withdraw(request.actor, form.cleaned_data["invitation"], slug)
        messages.success(request, f"The invitation of {found.email} is withdrawn.")
    return redirect("accounts:access", slug=slug)


@require_POST
@page(Permission.ADMINISTER)
def issue(request: HtmxRequest, slug: str) -> HttpResponse:
    """Answers with the token in the page itself: it is shown this once, and in no redirect."""
    form = CredentialForm(request.POST)
    if not form.is_valid():
        return _page(request, slug, {"credential_form": form}, status=400)
    wanted = dict(form.cleaned_data)
    lifetime = wanted.pop("lifetime")
    ends_at = timezone.now() + timedelta(days=lifetime) if lifetime else None
    try:
        credential, token = services.issue_credential(
            request.actor, product_slug=slug, owner=request.user, expires_at=ends_at, **wanted
        )
    except BadInput as refused:
        form.add_error("scopes", refused.detail)
        return _page(request, slug, {"credential_form": form}, status=400)
    return _page(request, slug, {"issued": credential, "token": token})


@require_POST
@page(Permission.ADMINISTER)
def revoke(request: HtmxRequest, slug: str) -> HttpResponse:
    form = RevokeForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Say why the credential is revoked.")
    else:
        found = services.revoke_credential(
            request.actor, form.cleaned_data["credential"], form.cleaned_data["reason"], slug
        )
        messages.success(request, f"{found.name} is revoked.")
    return redirect("accounts:access", slug=slug)


@require_POST
@page(Permission.ADMINISTER)
def rotate(request: HtmxRequest, slug: str) -> HttpResponse:
    """A new token for the same machine, shown this once; the old one counts for the overlap."""
    form = RotateForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Say why the token is replaced, and how long the old one counts.")
        return redirect("accounts:access", slug=slug)
    pk, reason = form.cleaned_data["credential"], form.cleaned_data["reason"]
    overlap = timedelta(hours=form.cleaned_data["overlap"])
    credential, token = rotate_credential(request.actor, pk, slug, overlap, reason)
    return _page(request, slug, {"issued": credential, "token": token})


@require_POST
@page(Permission.ADMINISTER)
def give_role(request: HtmxRequest, slug: str) -> HttpResponse:
    """A role for somebody who has an account, as who came by single sign-on has."""
    form = RoleForm(request.POST, auto_id=GIVE_IDS)
    if not form.is_valid():
        return _page(request, slug, {"role_form": form}, status=400)
    name = form.cleaned_data["username"]
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        form.add_error("username", "Nobody has an account of that name. Invite them instead.")
        return _page(request, slug, {"role_form": form}, status=400)
    given = services.grant(request.actor, user, form.cleaned_data["role"], slug)
    messages.success(request, f"{user.name} is {given.get_role_display()} of {slug}.")
    return redirect("accounts:access", slug=slug)


@require_POST
@page(Permission.ADMINISTER)
def take_role(request: HtmxRequest, slug: str) -> HttpResponse:
    form = TakeRoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Say why the role is taken back.")
    else:
        pk, reason = form.cleaned_data["grant"], form.cleaned_data["reason"]
        taken = services.revoke_grant(request.actor, pk, slug, reason)
        messages.success(request, f"{taken.user.name} is no longer {taken.get_role_display()}.")
    return redirect("accounts:access", slug=slug)


def _page(
    request: HtmxRequest, slug: str, extra: dict[str, Any], status: int = 200
) -> HttpResponse:
    context = {
        "slug": slug,
        "grants": selectors.grants_in(slug),
        "credentials": selectors.credentials_of(slug),
        "invitations": selectors.open_invitations(slug),
        "invite_form": InviteForm(),
        "credential_form": CredentialForm(),
        "role_form": RoleForm(auto_id=GIVE_IDS),
        "now": timezone.now(),
        "manages_people": may(request.actor, Permission.ADMINISTER, EVERY_PRODUCT),
        **extra,
    }
    return render_page(request, "accounts/access.html", None, context, status=status)
