"""Signing in, with a bound on guesses of a password and of a code.

Counted by name and address together, so that a stranger's guesses keep nobody out of their own
account; a larger bound by name alone stops guesses that come from everywhere, and one by address
alone stops a few guesses at each of many names. An office behind one proxy is one address.
"""

from datetime import timedelta
from typing import Any

from allauth.account.forms import ReauthenticateForm as PasswordForm
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.models import Authenticator
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR
from accounts.models import FailedSignIn, User
from accounts.services import record
from accounts.spent_codes import shown_once

COUNTED_FOR = timedelta(minutes=15)
FROM_ONE_ADDRESS = 10
FROM_EVERYWHERE = 200
OF_ALL_NAMES = 100
TOO_MANY = (
    "Too many wrong passwords or codes for this name. Try again in a quarter of an hour, "
    "or ask for a new password."
)
TOO_MANY_HERE = (
    "Too many wrong passwords or codes from your network address, for whatever name. "
    "Try again in a quarter of an hour, or from elsewhere."
)


class SignInForm(AuthenticationForm):
    """Django's own form; after too many wrong passwords not even the right one is looked at."""

    def clean(self) -> dict[str, Any]:
        name = str(self.cleaned_data.get("username", ""))
        refuse_too_many(name, self.request)
        try:
            return super().clean()
        except ValidationError:
            failed(name, self.request, "password")
            raise


class _Bounded:
    """A form of allauth's about one person, with our bound on wrong answers."""

    user: User
    what: str

    def _bounded(self, check: Any) -> str:
        refuse_too_many(self.user.username, context.request)
        try:
            return str(check())
        except ValidationError:
            failed(self.user.username, context.request, self.what)
            raise


class _Code(_Bounded):
    """A code of an authenticator app or a recovery code; either counts once."""

    what = "code"
    authenticator: Authenticator

    def clean_code(self) -> str:
        taken = super().clean_code  # type: ignore[misc]
        return self._bounded(
            lambda: shown_once(self.user, lambda: (taken(), self.authenticator)),
        )


class CodeForm(_Code, AuthenticateForm):  # type: ignore[misc]
    """At signing in."""


class ConfirmCodeForm(_Code, ReauthenticateForm):  # type: ignore[misc]
    """Of who is in already, and shows anew who they are."""


class ConfirmPasswordForm(_Bounded, PasswordForm):  # type: ignore[misc]
    what = "password"

    def clean_password(self) -> str:
        return self._bounded(super().clean_password)


class NewPasswordForm(_Bounded, PasswordChangeForm):
    """Asks for the old password, which whoever found an open session may guess at."""

    what = "password"

    def clean_old_password(self) -> str:
        return self._bounded(super().clean_old_password)


def refuse_too_many(name: str, request: Any) -> None:
    if why := too_many(_folded(name), address_of(request)):
        raise ValidationError(why, code="too_many")


def too_many(name: str, address: str) -> str:
    """The bound on guesses that is reached, in words; empty while none is."""
    failures = FailedSignIn.objects.filter(at__gt=timezone.now() - COUNTED_FOR)
    named = failures.filter(name=name)
    here = named.filter(address=address)[FROM_ONE_ADDRESS - 1 :].exists()
    if here or named[FROM_EVERYWHERE - 1 :].exists():
        return TOO_MANY
    # Behind a socket of this machine everybody has the same address: none.
    from_here = failures.filter(address=address)[OF_ALL_NAMES - 1 :].exists()
    return TOO_MANY_HERE if address and from_here else ""


@transaction.atomic
def failed(name: str, request: Any, what: str) -> None:
    """Count a wrong answer. The trail names people who exist: what else was typed, a secret
    perhaps, is nobody's to read."""
    address = address_of(request)
    FailedSignIn.objects.create(name=_folded(name), address=address)
    user = User.objects.filter(username__iexact=name[:150].replace("\x00", "")).first()
    if user is None:
        return
    data, about = {"what": what, "address": address}, ("user", user.username)
    record(SYSTEM_ACTOR, "sign_in.failed", obj=about, data=data)
    if too_many(_folded(name), address):
        record(SYSTEM_ACTOR, "sign_in.locked", obj=about, data=data)


def _folded(name: str) -> str:
    return name.casefold()[:150]  # folded, some letters become two or three


def address_of(request: Any) -> str:
    """Where a request comes from; empty behind a socket of this machine."""
    return str(request.META.get("REMOTE_ADDR", ""))[:64] if request else ""


def forget_failures() -> int:
    """Delete what no bound counts any more."""
    return FailedSignIn.objects.filter(at__lt=timezone.now() - COUNTED_FOR).delete()[0]
