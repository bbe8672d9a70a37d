"""A code of an authenticator app lets in once, whichever process it is shown to (RFC 6238, 5.2).

The library remembers used codes in the memory of one process, and not the one that a factor was
set up with.
"""

import time
from collections.abc import Callable

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.models import User

STEP_S = 30
#: For so long a code is believed: its own step, and those that a slow or fast clock is granted.
BELIEVED_S = STEP_S * (2 * settings.MFA_TOTP_TOLERANCE + 1)
SPENT = "spent"  # in the factor's data: until when, in Unix seconds, by code
USED = "This code was used already. Wait for the next one that the app shows."


@transaction.atomic
def shown_once(user: User, check: Callable[[], tuple[str, Authenticator]]) -> str:
    """What `check` took, unless it is a code that was taken before.

    Whoever shows a code of one person waits for the other: two at one moment are two in turn.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    code, factor = check()
    if factor.type == Authenticator.Type.TOTP and not spend(factor, code):
        raise ValidationError(USED, code="code_used")
    return code


@transaction.atomic
def spend(factor: Authenticator, code: str) -> bool:
    """Note that a right code was taken; False where it had been before."""
    row = Authenticator.objects.select_for_update().get(pk=factor.pk)
    digits, now_s = "".join(filter(str.isdigit, code)), time.time()
    spent = {one: until for one, until in row.data.get(SPENT, {}).items() if until > now_s}
    if digits in spent:
        return False
    row.data[SPENT] = {**spent, digits: now_s + BELIEVED_S}
    row.save(update_fields=["data"])
    return True
