"""Leaving for a provider that vouches for people, and the pages of what went otherwise."""

from allauth.socialaccount.providers.openid_connect import views as openid
from django.http import HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from controlplane.errors import Conflict, Unauthenticated
from controlplane.web import HtmxRequest, render_page


@require_POST
@never_cache
def leave(request: HtmxRequest, provider_id: str) -> HttpResponse:
    """A page that goes on to the provider by itself.

    Not a redirect: browsers hold a form's answer to our `form-action`, which names nobody else.
    """
    answer: HttpResponse = openid.login(request, provider_id=provider_id)
    if not isinstance(answer, HttpResponseRedirect):
        return answer
    return render_page(request, "accounts/leaving.html", None, {"url": answer.url})


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
