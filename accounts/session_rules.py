"""A session ends when nobody used it for a while, and after a day's work whoever uses it."""

import time
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render, resolve_url
from django.utils import timezone

from accounts.freshness import SEEN_AT, SIGNED_IN_AT, stamp
from accounts.guard import SYSTEM_ACTOR
from accounts.models import User
from accounts.services import record

#: A session is written this often at most, in seconds, to know when it was last used.
GRAIN_S = 60
#: Sent by the parts of pages that ask again by themselves.
POLL = "Orchid-Poll"
#: htmx swaps what comes with it, and asks no more.
STOP_POLLING = 286


class SessionRules:
    """Ends what is too old before a view sees it. Who shows no cookie costs nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.user.is_authenticated:
            self._keep_or_end(request)
        answer = self.get_response(request)
        if "HX-Request" in request.headers and leads_to_sign_in(answer):
            return signed_out(request)
        return answer

    def _keep_or_end(self, request: HttpRequest) -> None:
        now, session = time.time(), request.session
        if SIGNED_IN_AT not in session:
            stamp(session)
        elif why := over_by(session[SIGNED_IN_AT], session[SEEN_AT], now):
            end(request.user, session.session_key, why)  # type: ignore[arg-type]
            logout(request)
            messages.info(request, "Your session has ended. Sign in again to go on.")
        elif now - session[SEEN_AT] > GRAIN_S and not is_poll(request):
            session[SEEN_AT] = now


def is_poll(request: HttpRequest) -> bool:
    """Whether a page asked by itself, as an open tab does for ever: nobody used it."""
    return request.method == "GET" and POLL in request.headers


def leads_to_sign_in(answer: HttpResponse) -> bool:
    login = resolve_url(settings.LOGIN_URL)
    return answer.status_code == 302 and answer.headers["Location"].partition("?")[0] == login


def signed_out(request: HttpRequest) -> HttpResponse:
    """What a part of a page becomes whose session is over: no page of its own inside it.

    The page asks no more, and what was written on it stays there to be read.
    """
    here = urlsplit(request.headers.get("HX-Current-URL", ""))
    there = here.path if here.netloc == request.get_host() else "/"
    context = {"next": there}
    return render(request, "components/_signed_out.html", context, status=STOP_POLLING)


def over_by(signed_in_at: float, seen_at: float, now: float) -> str:
    """The rule that a session is over by: `age` or `idle`; empty while it goes on."""
    if now - signed_in_at > settings.SESSION_COOKIE_AGE:
        return "age"
    return "idle" if now - seen_at > settings.SESSION_IDLE_S else ""


@transaction.atomic
def end(user: User, key: str | None, why: str) -> None:
    """End a session by a rule; of several requests at once one says so in the trail."""
    UserSession.objects.filter(session_key=key).delete()
    ended, _ = Session.objects.filter(session_key=key).delete()
    if ended:
        about = ("user", user.username)
        record(SYSTEM_ACTOR, "session.expired", obj=about, data={"by": why})


def sessions_of(user: User, but: str | None = None) -> QuerySet[UserSession]:
    """The sessions that somebody has, or all but the one of this key."""
    rows: QuerySet[UserSession] = UserSession.objects.filter(user=user)
    return rows.exclude(session_key=but) if but else rows


def ended(sessions: Iterable[UserSession]) -> int:
    """How many there were; they are over at once."""
    return len([session.end() for session in list(sessions)])


def end_forgotten() -> int:
    """End the sessions that are over and that nobody came back to, so that the trail has them too.

    Returns how many ended. What was begun and never signed in goes without a word.
    """
    now, count = time.time(), 0
    known = {one.session_key: one.user for one in UserSession.objects.select_related("user")}
    for row in Session.objects.filter(session_key__in=known).iterator():
        said = row.get_decoded()
        signed_in_at, seen_at = said.get(SIGNED_IN_AT, 0.0), said.get(SEEN_AT, 0.0)
        if why := over_by(signed_in_at, seen_at, now):
            end(known[row.session_key], row.session_key, why)
            count += 1
    Session.objects.filter(expire_date__lt=timezone.now()).delete()
    return count
