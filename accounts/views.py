"""Pages of people: signing in, a new password, joining by invitation, the audit trail."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts import invitations, selectors
from accounts.forms import AuditForm, JoinForm
from accounts.guard import Permission, actor_of, products_with
from accounts.models import Invitation
from accounts.sign_in import SignInForm
from controlplane.errors import Forbidden, Problem
from controlplane.web import HtmxRequest, paged, render_page


class SignIn(auth.LoginView):
    template_name = "accounts/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True


class SignOut(auth.LogoutView):
    """By POST alone, so that no link or image signs a person out."""


class ResetRequest(auth.PasswordResetView):
    template_name = "accounts/password_reset.html"
    email_template_name = "accounts/password_reset_email.txt"
    subject_template_name = "accounts/password_reset_subject.txt"
    success_url = reverse_lazy("accounts:password_reset_done")


class ResetSent(auth.PasswordResetDoneView):
    template_name = "accounts/password_reset_sent.html"


class ResetConfirm(auth.PasswordResetConfirmView):
    template_name = "accounts/password_reset_confirm.html"
    success_url = reverse_lazy("accounts:password_reset_complete")


class ResetDone(auth.PasswordResetCompleteView):
    template_name = "accounts/password_reset_done.html"


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def invitation(request: HtmxRequest, secret: str) -> HttpResponse:
    """Take up an invitation: by one's own sign-in, or with a new name and password."""
    found = invitations.opened(secret)
    if request.user.is_authenticated:
        return _accept(request, secret, found)
    form = JoinForm(request.POST or None)
    problem = None
    if form.is_valid():
        try:
            user = invitations.join(secret, **form.cleaned_data)
        except Problem as refused:
            problem = refused
        else:
            login(request, user)
            return redirect("hall:dashboard")
    context = {"invitation": found, "form": form, "problem": problem}
    return render_page(request, "accounts/invitation.html", None, context)


def _accept(request: HtmxRequest, secret: str, found: Invitation) -> HttpResponse:
    if request.method == "POST":
        invitations.accept(secret, request.user)
        messages.success(request, f"You are {found.get_role_display()} of {found.product_slug}.")
        return redirect("hall:dashboard")
    return render_page(request, "accounts/invitation.html", None, {"invitation": found})


@require_safe
@login_required
def audit(request: HtmxRequest) -> HttpResponse:
    """Who did what, newest first, within the products whose trail one may read."""
    actor = actor_of(request)
    if not products_with(actor, Permission.AUDIT):
        raise Forbidden("forbidden", "The audit trail needs the role of auditor, owner or SRE.")
    form = AuditForm(request.GET)
    wanted = selectors.AuditFilter(**form.cleaned_data) if form.is_valid() else None
    events = selectors.audit_events(actor, wanted or selectors.AuditFilter())
    page = paged(events, request.GET.get("cursor", ""), field="at")
    context = {"form": form, "page": page, "query": _without_cursor(request)}
    return render_page(request, "accounts/audit.html", "accounts/_audit_events.html", context)


def _without_cursor(request: HtmxRequest) -> str:
    query = request.GET.copy()
    query.pop("cursor", None)
    return query.urlencode()
