"""A bound on mails for a new password, which anybody may ask for without signing in.

Over it no mail goes out and the page says what it always says, so that nobody learns by it who has
an account. Who is kept from another mail by a stranger has those that the stranger asked for: each
link works for an hour.
"""

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import ResetAsked
from accounts.sign_in import COUNTED_FOR, address_of

TO_ONE_EMAIL = 5
FROM_ONE_ADDRESS = 50


@transaction.atomic
def may_mail(email: str, request: HttpRequest) -> bool:
    """Whether one more mail goes out; counts the asking for the next."""
    email, address = email.casefold()[:254], address_of(request)
    asked = ResetAsked.objects.filter(at__gt=timezone.now() - COUNTED_FOR)
    same = asked.filter(email=email)[TO_ONE_EMAIL - 1 :].exists()
    here = bool(address) and asked.filter(address=address)[FROM_ONE_ADDRESS - 1 :].exists()
    if same or here:
        return False
    ResetAsked.objects.create(email=email, address=address)
    return True


def forget_asked() -> int:
    """Delete what no bound counts any more."""
    return ResetAsked.objects.filter(at__lt=timezone.now() - COUNTED_FOR).delete()[0]
