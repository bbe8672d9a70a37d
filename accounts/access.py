"""The page of who and what may enter a product: people, invitations, machines."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.mail import send_mail
from django.http import HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts import invitations, selectors, services
from accounts.forms import CredentialForm, InviteForm, RevokeForm
from accounts.guard import Permission, page
from controlplane.web import HtmxRequest, render_page


@require_safe
@page(Permission.ADMINISTER)
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
    text = render_to_string("accounts/invitation_email.txt", {"invitation": made, "link": link})
    send_mail(f"Orchid: your role in {slug}", text, settings.DEFAULT_FROM_EMAIL, [made.email])
    return _page(request, slug, {"invited": made, "link": link})


@require_POST
@page(Permission.ADMINISTER)
def issue(request: HtmxRequest, slug: str) -> HttpResponse:
    """Answers with the token in the page itself: it is shown this once, and in no redirect."""
    form = CredentialForm(request.POST)
    if not form.is_valid():
        return _page(request, slug, {"credential_form": form}, status=400)
    credential, token = services.issue_credential(
        request.actor, product_slug=slug, owner=request.user, **form.cleaned_data
    )
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
        **extra,
    }
    return render_page(request, "accounts/access.html", None, context, status=status)
