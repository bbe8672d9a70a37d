"""Pages of people: signing in, a new password."""

from django.contrib.auth import views as auth
from django.urls import reverse_lazy


class SignIn(auth.LoginView):
    template_name = "accounts/login.html"
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
