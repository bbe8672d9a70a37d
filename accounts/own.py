"""The page of one's own account: password, second factors, providers, sessions; and confirming."""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts.freshness import is_fresh
from accounts.guard import person, to_confirm
from accounts.heard import note
from accounts.pressed import kept
from accounts.second_factor import lacks_factor
from accounts.services import record
from accounts.session_rules import ended, sessions_of
from accounts.sign_in import NewPasswordForm
from controlplane.errors import Conflict, NotFound
from controlplane.web import HtmxRequest, render_page


@require_safe
@login_required
@never_cache
def account(request: HtmxRequest) -> HttpResponse:
    user = request.user
    linked = {row.provider: row for row in SocialAccount.objects.filter(user=user)}
    context = {
        "factors": Authenticator.objects.filter(user=user).order_by("created_at"),
        "factor_needed": lacks_factor(request),
        "providers": [(one, linked.get(one.id)) for one in settings.SIGN_ON.values()],
        "sessions": UserSession.objects.purge_and_list(user),
        "session_key": request.session.session_key,
        "idle_minutes": settings.SESSION_IDLE_S // 60,
        "session_hours": settings.SESSION_COOKIE_AGE // 3600,
    }
    return render_page(request, "accounts/account.html", None, context)


class NewPassword(auth.PasswordChangeView):
    """Ends every other session: each was begun with the old password's word."""

    template_name = "accounts/password.html"
    form_class = NewPasswordForm
    success_url = reverse_lazy("accounts:account")

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        # Now: this session gets a new key by the change.
        others = list(sessions_of(form.user, but=self.request.session.session_key))
        answer = super().form_valid(form)
        UserSession.objects.create_from_request(self.request)
        note(self.request.user, "password.changed", sessions_ended=ended(others))
        messages.success(self.request, "Your password is changed; your other sessions have ended.")
        return answer


@require_POST
@login_required
def end_sessions(request: HtmxRequest) -> HttpResponse:
    """End all of one's sessions but this one, or one of them."""
    rows = sessions_of(request.user, but=request.session.session_key)
    one = request.POST.get("session", "")
    if one.isdecimal() and len(one) < 19:
        rows = rows.filter(pk=int(one))
    count = ended(rows)
    if count:
        note(request.user, "session.ended", count=count)
    messages.success(request, f"Ended: {count}.")
    return redirect("accounts:account")


@require_POST
@login_required
def unlink(request: HtmxRequest, provider: str) -> HttpResponse:
    """Forget a provider's word for oneself, unless there is no other way in."""
    if not is_fresh(request):
        return to_confirm(request)
    with transaction.atomic():
        rows = SocialAccount.objects.select_for_update().filter(user=request.user)
        found = rows.filter(provider=provider).first()
        if found is None:
            raise NotFound("not_found", "You are not linked to a provider of that name.")
        if rows.count() == 1 and not request.user.has_usable_password():
            raise Conflict("last_way_in", "Without a password this is your only way in.")
        found.delete()
        data, about = {"provider": provider}, ("user", request.user.username)
        record(person(request.user), "sign_on.unlinked", obj=about, data=data)
    return redirect("accounts:account")


@require_safe
@login_required
@never_cache
def confirm(request: HtmxRequest) -> HttpResponse:
    """Off to the strongest way that this person has to show who they are."""
    next_url = request.GET.get("next", "")
    if not url_has_allowed_host_and_scheme(next_url, allowed_hosts={request.get_host()}):
        next_url = reverse("hall:dashboard")
    ways = get_adapter(request).get_reauthentication_methods(request.user)
    if ways:
        return redirect(f"{ways[0]['url']}?{urlencode({'next': next_url})}")
    linked = SocialAccount.objects.filter(user=request.user).values_list("provider", flat=True)
    providers = [one for one in settings.SIGN_ON.values() if one.id in set(linked)]
    context = {"providers": providers, "next": next_url}
    return render_page(request, "accounts/confirm_by_provider.html", None, context)


@require_safe
@login_required
@never_cache
def go_on(request: HtmxRequest) -> HttpResponse:
    """What was written before one had to confirm, and the button that sends it now."""
    found = kept(request.session)
    if found is None:
        return redirect("hall:dashboard")
    return render_page(request, "accounts/go_on.html", None, {"pressed": found})
