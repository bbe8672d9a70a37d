"""Second factors and providers: views of django-allauth under addresses and pages of ours.

Its own names stand here without a namespace, for it reverses them itself. What changes a factor
asks, by our rule, for somebody who showed lately who they are.
"""

import functools
from collections.abc import Callable
from typing import Any

from allauth.account.views import ReauthenticateView
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.base.views import ReauthenticateView as ConfirmByCode
from allauth.mfa.recovery_codes.views import GenerateRecoveryCodesView, ViewRecoveryCodesView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import (
    AddWebAuthnView,
    ReauthenticateWebAuthnView,
    RemoveWebAuthnView,
)
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse_lazy

from accounts import own, signing_on, views
from accounts.freshness import is_fresh
from accounts.guard import to_confirm
from accounts.methods import form_page


def fresh(view: Callable[..., Any]) -> Callable[..., Any]:
    """Sign in, and lately, before a factor is added or taken away."""

    @functools.wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        return view(request, *args, **kwargs) if is_fresh(request) else to_confirm(request)

    return guarded


def page(view: Any, template: str, **more: Any) -> Callable[..., Any]:
    """No other method: a PUT or DELETE would go round the form, and with it past the trail."""
    made: Callable[..., Any] = view.as_view(template_name=f"accounts/{template}.html", **more)
    return form_page(made)


home = reverse_lazy("mfa_index")
urlpatterns = [
    path("login", form_page(views.SignIn.as_view()), name="account_login"),
    path("login/code", page(AuthenticateView, "factor"), name="mfa_authenticate"),
    path("logout", views.SignOut.as_view(), name="account_logout"),
    path("account/", own.account, name="mfa_index"),
    path("confirm/password", page(ReauthenticateView, "confirm"), name="account_reauthenticate"),
    path("confirm/code", page(ConfirmByCode, "confirm"), name="mfa_reauthenticate"),
    path(
        "confirm/key",
        page(ReauthenticateWebAuthnView, "confirm_key"),
        name="mfa_reauthenticate_webauthn",
    ),
    path("account/totp/add", fresh(page(ActivateTOTPView, "totp")), name="mfa_activate_totp"),
    path(
        "account/totp/remove",
        fresh(page(DeactivateTOTPView, "factor_removal", success_url=home)),
        name="mfa_deactivate_totp",
    ),
    path(
        "account/codes",
        fresh(page(ViewRecoveryCodesView, "codes")),
        name="mfa_view_recovery_codes",
    ),
    path(
        "account/codes/new",
        fresh(page(GenerateRecoveryCodesView, "codes_new")),
        name="mfa_generate_recovery_codes",
    ),
    path("account/keys/add", fresh(page(AddWebAuthnView, "key")), name="mfa_add_webauthn"),
    path(
        "account/keys/<int:pk>/remove",
        fresh(page(RemoveWebAuthnView, "factor_removal", success_url=home)),
        name="mfa_remove_webauthn",
    ),
    path("sign-on/<slug:provider_id>/", signing_on.leave, name="openid_connect_login"),
    path(
        "sign-on/<slug:provider_id>/callback", signing_on.callback, name="openid_connect_callback"
    ),
    path("sign-on/cancelled", signing_on.cancelled, name="socialaccount_login_cancelled"),
    path("sign-on/taken", signing_on.taken, name="socialaccount_signup"),
    path("account/", own.account, name="socialaccount_connections"),
]
