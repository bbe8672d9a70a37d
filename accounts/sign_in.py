"""Signing in, with a bound on guesses.

Counted by name and address together, so that a stranger's guesses keep nobody out of their own
account; a larger bound by name alone stops guesses that come from everywhere.
"""

from datetime import timedelta
from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.utils import timezone

from accounts.models import FailedSignIn

COUNTED_FOR = timedelta(minutes=15)
FROM_ONE_ADDRESS = 10
FROM_EVERYWHERE = 200


class SignInForm(AuthenticationForm):
    """Django's own form; after too many wrong passwords not even the right one is looked at."""

    def clean(self) -> dict[str, Any]:
        name = str(self.cleaned_data.get("username", ""))[:150].casefold()
        address = self.request.META.get("REMOTE_ADDR", "") if self.request else ""
        if too_many(name, address):
            raise ValidationError(
                "Too many wrong passwords for this name. Try again in a quarter of an hour, "
                "or ask for a new password.",
                code="too_many",
            )
        try:
            return super().clean()
        except ValidationError:
            FailedSignIn.objects.create(name=name, address=address)
            raise


def too_many(name: str, address: str) -> bool:
    """Whether the bound on guesses of this name is reached."""
    since = timezone.now() - COUNTED_FOR
    failed = FailedSignIn.objects.filter(name=name, at__gt=since)
    here = failed.filter(address=address)[FROM_ONE_ADDRESS - 1 :].exists()
    return here or failed[FROM_EVERYWHERE - 1 :].exists()


def forget_failures() -> int:
    """Delete what no bound counts any more."""
    return FailedSignIn.objects.filter(at__lt=timezone.now() - COUNTED_FOR).delete()[0]
