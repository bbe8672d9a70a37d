"""Roles that a site gives to nobody without a second factor."""

from collections.abc import Callable

from allauth.account.authentication import get_authentication_records
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from accounts.models import Grant, User
from controlplane import errors

#: Where one sets up a factor, confirms who one is, or leaves.
LEFT_OPEN = ("/account/", "/confirm", "/login", "/logout", "/sign-on/", "/static/")


class SecondFactor:
    """Lets a person whose role asks for a second factor do nothing but set one up."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        asked = settings.SECOND_FACTOR_ROLES and not request.path.startswith(LEFT_OPEN)
        if asked and request.user.is_authenticated and lacks_factor(request):
            return _sent_away(request)
        return self.get_response(request)


def lacks_factor(request: HttpRequest) -> bool:
    user = request.user
    return asks_for_one(user) and not is_mfa_enabled(user) and not _vouched(request)  # type: ignore[arg-type]


def asks_for_one(user: User) -> bool:
    """Whether some role of theirs, in whichever product, needs a second factor."""
    needing = settings.SECOND_FACTOR_ROLES
    return bool(needing) and Grant.objects.filter(user=user, role__in=needing).exists()


def _vouched(request: HttpRequest) -> bool:
    """Whether a provider that asks for a second factor itself signed them in."""
    records = get_authentication_records(request, request.user)
    used = [settings.SIGN_ON.get(str(record.get("provider", ""))) for record in records]
    return any(provider is not None and provider.second_factor for provider in used)


def _sent_away(request: HttpRequest) -> HttpResponse:
    needed = errors.Forbidden(
        "second_factor_needed",
        "Your role needs a second factor. Set one up on the page of your account.",
    )
    if errors.is_machine(request) or getattr(request, "htmx", False):
        return errors.respond(request, needed)
    messages.warning(request, needed.detail)
    return redirect(reverse("accounts:account"))
