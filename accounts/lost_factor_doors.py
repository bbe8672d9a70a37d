"""Page and address by which somebody else's lost second factor is taken away."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.forms import ReasonForm
from accounts.guard import Permission, actor_of, page
from accounts.idempotency import idempotent
from accounts.lost_factor import KINDS, Reset, reset_factors, whose_factors
from accounts.shapes import Why
from controlplane.rest import taken
from controlplane.web import HtmxRequest, render_page


class ResetOut(serializers.Serializer[Reset]):
    person = serializers.CharField(source="person.username")
    removed = serializers.ListField(child=serializers.CharField())
    sessions_ended = serializers.IntegerField()
    mailed = serializers.BooleanField(help_text="Whether a mail server took the word to them.")


class FactorReset(APIView):
    @extend_schema(request=Why, responses=ResetOut)
    @idempotent
    def post(self, request: Request, name: str) -> Response:
        """Take away a lost second factor of another person; their sessions end."""
        done = reset_factors(actor_of(request), name, **taken(Why, request))
        return Response(ResetOut(done).data)


@require_http_methods(["GET", "HEAD", "POST"])
@page(Permission.ADMINISTER)
def factors(request: HtmxRequest, name: str) -> HttpResponse:
    """What somebody signs in with beside their password, and the button that takes it away."""
    form = ReasonForm(request.POST or None)
    if form.is_valid():
        done = reset_factors(request.actor, name, form.cleaned_data["reason"])
        messages.success(request, _words(done))
        return redirect("accounts:factors_of", name=name)
    found, held = whose_factors(request.actor, name)
    context = {"person": found, "held": [(KINDS[one.type], one) for one in held], "form": form}
    status = 400 if request.method == "POST" else 200
    return render_page(request, "accounts/factors_of.html", None, context, status=status)


def _words(done: Reset) -> str:
    told = "They are told by mail." if done.mailed else "No mail reached them: tell them yourself."
    return f"{done.person.name} signs in with the password alone now. {told}"
