"""Pages of people: signing in, a new password, joining by invitation."""

from typing import Any

from allauth.account.internal.flows.login import perform_password_login
from allauth.account.models import EmailAddress, Login
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.forms import AuthenticationForm
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import invitations
from accounts.forms import JoinForm
from accounts.heard import note
from accounts.models import Invitation, User
from accounts.resets import may_mail
from accounts.session_rules import ended, sessions_of
from accounts.sign_in import SignInForm
from controlplane.errors import Problem
from controlplane.web import HtmxRequest, render_page


class SignIn(auth.LoginView):
    template_name = "accounts/login.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(providers=settings.SIGN_ON.values(), **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """The password was right; who has a second factor is asked for it before they are in."""
        user = form.get_user()
        wanted = Login(user=user, redirect_url=self.get_success_url())
        answer: HttpResponse = perform_password_login(
            self.request, {"username": user.username}, wanted
        )
        return answer


class SignOut(auth.LogoutView):
    """By POST alone, so that no link or image signs a person out."""

    def post(self, request: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            note(request.user, "sign_out")
        return super().post(request, *args, **kwargs)


class ResetRequest(auth.PasswordResetView):
    template_name = "accounts/password_reset.html"
    email_template_name = "accounts/password_reset_email.txt"
    subject_template_name = "accounts/password_reset_subject.txt"
    success_url = reverse_lazy("accounts:password_reset_done")

    def form_valid(self, form: Any) -> HttpResponse:
        """Over the bound the answer is the same and no mail goes out."""
        if not may_mail(form.cleaned_data["email"], self.request):
            return redirect(self.success_url)
        return super().form_valid(form)


class ResetSent(auth.PasswordResetDoneView):
    template_name = "accounts/password_reset_sent.html"


class ResetConfirm(auth.PasswordResetConfirmView):
    template_name = "accounts/password_reset_confirm.html"
    success_url = reverse_lazy("accounts:password_reset_complete")

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        """Whoever opened the link reads the mail of that address: it is theirs."""
        answer = super().form_valid(form)
        user = form.user
        prove_address(user)
        note(user, "password.reset", sessions_ended=ended(sessions_of(user)))
        return answer


def prove_address(user: User) -> None:
    """Note that they read the mail of their address, unless somebody proved it to be theirs."""
    email = user.email.lower()  # folded further, "ß" would prove somebody else's "ss"
    others = EmailAddress.objects.filter(email=email, verified=True).exclude(user=user)
    if email and not others.exists():
        EmailAddress.objects.update_or_create(user=user, email=email, defaults={"verified": True})


class ResetDone(auth.PasswordResetCompleteView):
    template_name = "accounts/password_reset_done.html"


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def invitation(request: HtmxRequest, secret: str) -> HttpResponse:
    """Take up an invitation: by one's own sign-in, or with a new name and password."""
    found = invitations.opened(secret)
    if request.user.is_authenticated:
        return _accept(request, secret, found)
    form = JoinForm(request.POST if request.method == "POST" else None)
    problem = None
    if form.is_valid():
        try:
            user = invitations.join(secret, **form.cleaned_data)
        except Problem as refused:
            problem = refused
        else:
            wanted = Login(user=user, redirect_url=reverse("hall:dashboard"))
            begun: HttpResponse = perform_password_login(
                request, {"username": user.username}, wanted
            )
            return begun
    context = {"invitation": found, "form": form, "problem": problem}
    return render_page(request, "accounts/invitation.html", None, context)


def _accept(request: HtmxRequest, secret: str, found: Invitation) -> HttpResponse:
    if request.method == "POST":
        invitations.accept(secret, request.user)
        messages.success(request, f"You are {found.get_role_display()} of {found.product_slug}.")
        return redirect("hall:dashboard")
    return render_page(request, "accounts/invitation.html", None, {"invitation": found})
