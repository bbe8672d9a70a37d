"""What signing in, factors and providers leave in the audit trail."""

from typing import Any

from allauth.account.signals import authentication_step_completed, user_logged_in
from allauth.mfa import signals as factors
from allauth.mfa.models import Authenticator
from allauth.socialaccount import signals as sign_on
from django.contrib.auth.signals import user_logged_in as session_began
from django.db import transaction
from django.dispatch import receiver

from accounts.freshness import stamp
from accounts.guard import person
from accounts.services import record
from accounts.spent_codes import spend


def note(user: Any, action: str, **data: Any) -> None:
    with transaction.atomic():
        record(person(user), action, obj=("user", user.username), data=data)


@receiver(session_began)
def began(request: Any, **_: Any) -> None:
    stamp(request.session)


@receiver(user_logged_in)
def signed_in(request: Any, user: Any, **_: Any) -> None:
    used = request.session.get("account_authentication_methods", [])
    by = [str(one.get("type") or one.get("provider") or one["method"]) for one in used]
    note(user, "sign_in", by=by, address=request.META.get("REMOTE_ADDR", ""))


@receiver(authentication_step_completed)
def confirmed(user: Any, method: str, reauthenticated: bool = False, **_: Any) -> None:
    if reauthenticated:
        note(user, "sign_in.confirmed", by=method)


@receiver(factors.authenticator_added)
def factor_added(request: Any, user: Any, authenticator: Any, **_: Any) -> None:
    note(user, "factor.added", kind=str(authenticator.type))
    if authenticator.type == Authenticator.Type.TOTP:
        spend(authenticator, request.POST.get("code", ""))


@receiver(factors.authenticator_removed)
def factor_removed(user: Any, authenticator: Any, **_: Any) -> None:
    note(user, "factor.removed", kind=str(authenticator.type))


@receiver(factors.authenticator_reset)
def factor_renewed(user: Any, authenticator: Any, **_: Any) -> None:
    note(user, "factor.renewed", kind=str(authenticator.type))


@receiver(sign_on.social_account_added)
def linked(sociallogin: Any, **_: Any) -> None:
    note(sociallogin.user, "sign_on.linked", provider=sociallogin.account.provider)


@receiver(sign_on.social_account_removed)
def unlinked(socialaccount: Any, **_: Any) -> None:
    note(socialaccount.user, "sign_on.unlinked", provider=socialaccount.provider)
