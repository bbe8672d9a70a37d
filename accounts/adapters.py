"""What django-allauth asks us: whom to let in, how to link, how to keep a secret."""

import base64
import hashlib
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from cryptography.fernet import Fernet
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from accounts.freshness import is_fresh
from accounts.guard import person
from accounts.models import User
from accounts.services import record
from controlplane import errors
from controlplane.sign_on import Provider

#: Rank and words of each way to confirm, by allauth's name for it.
WAYS = {
    "mfa_reauthenticate:webauthn": (0, "Use a security key"),
    "mfa_reauthenticate": (1, "Use the code of an app, or a recovery code"),
    "reauthenticate": (2, "Use your password"),
}
LEFT = errors.Forbidden("account_closed", "This account is closed. An owner can open it again.")


class PeopleAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """People come by invitation or by a provider that a site trusts; nobody signs up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        """Where a session began, for its owner to see; a socket of this machine has no address."""
        return str(request.META.get("REMOTE_ADDR") or "0.0.0.0")  # noqa: S104

    def is_reauthentication_required(self, *, app: str, **_: Any) -> bool:
        return not is_fresh(context.request)

    def get_reauthentication_methods(self, user: User) -> list[dict[str, str]]:
        """The ways to confirm who one is, the strongest first."""
        found = super().get_reauthentication_methods(user)
        known = [(one, *WAYS[one["id"]]) for one in found]
        known.sort(key=lambda way: way[1])
        return [{**one, "description": words} for one, _, words in known]

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        return errors.respond(request, LEFT)

    def add_message(self, *_: Any, message: str | None = None, **__: Any) -> None:
        """Our pages show what happened; a second sentence above each would say it twice."""


class SignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Single sign-on: an account without a role, and links to verified addresses alone."""

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Whom the rules don't take goes no further, also when they were linked before."""
        provider = self._rules(sociallogin)
        if not any(provider.takes(one) for one in verified(sociallogin)):
            raise ImmediateHttpResponse(errors.respond(request, _not_taken(provider)))

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return self._rules(sociallogin).join

    def authenticate_by_email(self, sociallogin: Any) -> tuple[User, str] | None:
        """The person who proved here that the address is theirs, as the provider says it is.

        One who merely wrote it down might be lying in wait for its owner. Compared in small
        letters and no looser: the database takes a long s for an s, and it is another mailbox.
        """
        for email in verified(sociallogin):
            rows = EmailAddress.objects.filter(email=email.lower(), verified=True)
            if (found := rows.select_related("user").first()) is not None:
                return found.user, email
        return None

    @transaction.atomic
    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        user: User = super().save_user(request, sociallogin, form)
        user.display_name = user.get_full_name()[:120]
        user.save(update_fields=["display_name"])
        by = {"provider": sociallogin.account.provider, "email": user.email}
        record(person(user), "person.joined", obj=("user", user.username), data=by)
        return user

    def _rules(self, sociallogin: Any) -> Provider:
        found: Provider = settings.SIGN_ON[sociallogin.account.provider]
        return found


def verified(sociallogin: Any) -> list[str]:
    """The addresses that the provider itself has verified."""
    return [one.email for one in sociallogin.email_addresses if one.verified]


def _not_taken(provider: Provider) -> errors.Forbidden:
    return errors.Forbidden(
        "address_not_taken",
        f"{provider.name} names no verified e-mail address for you that this site lets in. "
        "Ask an owner for an invitation.",
    )


class FactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """TOTP secrets are encrypted: who reads the database can't make anybody's codes."""

    def encrypt(self, text: str) -> str:
        return _box().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return _box().decrypt(encrypted_text.encode()).decode()

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        return {**super().get_public_key_credential_rp_entity(), "name": "Orchid"}


def _box() -> Fernet:
    return Fernet(base64.urlsafe_b64encode(hashlib.sha256(settings.FACTOR_KEY.encode()).digest()))
