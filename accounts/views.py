"""Pages of people: signing in, a new password, joining by invitation."""

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth import views as auth
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import invitations
from accounts.forms import JoinForm
from accounts.models import Invitation
from accounts.sign_in import SignInForm
from controlplane.errors import Problem
from controlplane.web import HtmxRequest, render_page


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
