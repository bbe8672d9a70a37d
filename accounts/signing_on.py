"""Leaving for a provider that vouches for people, and the pages of what went otherwise."""

import functools
import logging
from collections.abc import Callable
from typing import Any

from allauth.socialaccount.providers.openid_connect import views as openid
from django.core.exceptions import ImproperlyConfigured
from django.db import DataError, IntegrityError, transaction
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from requests import RequestException

from accounts.methods import form_page
from controlplane.errors import Conflict, Forbidden, Unauthenticated, Unavailable
from controlplane.web import HtmxRequest, render_page

logger = logging.getLogger(__name__)
#: What the library that we build on makes of a document or a claim of another shape.
UNREADABLE = (
    *(AttributeError, KeyError, TypeError, ValueError),
    *(DataError, ImproperlyConfigured, IntegrityError),
)


def told(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A provider that is away, or says what nobody can read, is told as that; nothing is kept."""

    @functools.wraps(view)
    def answered(request: HtmxRequest, **named: Any) -> HttpResponse:
        try:
            with transaction.atomic():
                return view(request, **named)
        except RequestException as error:
            logger.warning("provider %s is away: %s", named.get("provider_id"), error)
            raise Unavailable(
                "provider_away", "Your provider can't be reached. Try again, or use a password."
            ) from error
        except UNREADABLE as error:
            name = named.get("provider_id")
            logger.warning("provider %s says what can't be read: %r", name, error)
            raise Forbidden(
                "provider_unreadable",
                "What your provider says of you can't be read, so you were not signed in. "
                "Whoever runs it has to look at it.",
            ) from error

    return answered


@require_POST
@never_cache
@told
def leave(request: HtmxRequest, provider_id: str) -> HttpResponse:
    """A page that goes on to the provider by itself.

    Not a redirect: browsers hold a form's answer to our `form-action`, which names nobody else.
    """
    answer: HttpResponse = openid.login(request, provider_id=provider_id)
    if not isinstance(answer, HttpResponseRedirect):
        return answer
    return render_page(request, "accounts/leaving.html", None, {"url": answer.url})


callback = form_page(told(openid.callback))


@require_safe
@never_cache
def cancelled(request: HtmxRequest) -> HttpResponse:
    raise Unauthenticated("sign_on_cancelled", "You turned back at the provider. Try once more.")


@require_safe
@never_cache
def taken(request: HtmxRequest) -> HttpResponse:
    """Reached by somebody whose address an account has that never proved it."""
    raise Conflict(
        "address_in_use",
        "An account here has your e-mail address already, and it was never proved to be its own. "
        f"Sign in to it at {request.build_absolute_uri(reverse('accounts:login'))} with its "
        "password, and link the provider on the page of your account.",
    )
