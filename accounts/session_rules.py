"""A session ends when nobody used it for a while, and after a day's work whoever uses it."""

import time
from collections.abc import Callable

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse

from accounts.freshness import SEEN_AT, SIGNED_IN_AT, stamp

#: A session is written this often at most, in seconds, to know when it was last used.
GRAIN_S = 60


class SessionRules:
    """Ends what is too old before a view sees it. Who shows no cookie costs nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            self._keep_or_end(request)
        return self.get_response(request)

    def _keep_or_end(self, request: HttpRequest) -> None:
        now, session = time.time(), request.session
        if SIGNED_IN_AT not in session:
            stamp(session)
        elif is_over(session[SIGNED_IN_AT], session[SEEN_AT], now):
            logout(request)
            messages.info(request, "Your session has ended. Sign in again to go on.")
        elif now - session[SEEN_AT] > GRAIN_S:
            session[SEEN_AT] = now


def is_over(signed_in_at: float, seen_at: float, now: float) -> bool:
    too_old = now - signed_in_at > settings.SESSION_COOKIE_AGE
    return too_old or now - seen_at > settings.SESSION_IDLE_S
