"""How long ago somebody showed who they are, which what changes traffic asks for anew."""

import time
from typing import Any

from allauth.account.authentication import get_authentication_records
from django.conf import settings
from django.http import HttpRequest

#: In the session: when they signed in, and when a page was last asked for, in Unix seconds.
SIGNED_IN_AT, SEEN_AT = "signed_in_at", "seen_at"


def stamp(session: Any) -> None:
    """Note the moment of signing in."""
    session[SIGNED_IN_AT] = session[SEEN_AT] = time.time()


def confirmed_at(request: HttpRequest) -> float:
    """The last password, factor or sign-on of this session, in Unix seconds; 0 for none."""
    # The records of a sign-in that stopped half way belong to nobody yet.
    records = get_authentication_records(request, request.user)
    shown = [float(record["at"]) for record in records]
    signed_in_at: float = request.session.get(SIGNED_IN_AT, 0.0)
    return max([signed_in_at, *shown])


def is_fresh(request: HttpRequest) -> bool:
    return time.time() - confirmed_at(request) < settings.CONFIRMED_FOR_S
