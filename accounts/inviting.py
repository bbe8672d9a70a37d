"""Invitations into a product, by the API.

Inviting takes no Idempotency-Key: a stored answer would keep the link, which is worth a role.
"""

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import invitations, selectors
from accounts.guard import Permission, actor_of, require
from accounts.idempotency import idempotent
from accounts.models import Invitation
from accounts.roles import PEOPLE
from controlplane.rest import taken


class NewInvitation(serializers.Serializer[Any]):
    email = serializers.EmailField(max_length=254)
    role = serializers.ChoiceField(choices=sorted(PEOPLE))


class InvitationOut(serializers.ModelSerializer[Invitation]):
    product = serializers.CharField(source="product_slug")
    invited_by = serializers.CharField(source="invited_by.username")

    class Meta:
        model = Invitation
        fields: tuple[str, ...] = (
            "id",
            "product",
            "email",
            "role",
            "invited_by",
            "created_at",
            "expires_at",
        )


class InvitedOut(InvitationOut):
    """`link` is in this answer and in the mail alone, which `mailed` says a server took."""

    link = serializers.URLField()
    mailed = serializers.BooleanField()

    class Meta(InvitationOut.Meta):
        fields = (*InvitationOut.Meta.fields, "link", "mailed")


class Invitations(APIView):
    @extend_schema(responses=InvitationOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Those that nobody has taken up and whose week is not over."""
        require(actor_of(request), Permission.ADMINISTER, slug, reading=True)
        rows = selectors.open_invitations(slug).select_related("invited_by")
        return Response({"items": InvitationOut(rows, many=True).data, "next_cursor": ""})

    @extend_schema(request=NewInvitation, responses={201: InvitedOut})
    def post(self, request: Request, slug: str) -> Response:
        """Promise a role to whoever holds the link, which is mailed as well."""
        actor = actor_of(request)
        require(actor, Permission.ADMINISTER, slug)
        wanted = taken(NewInvitation, request)
        made, secret = invitations.invite(actor, product_slug=slug, **wanted)
        made.refresh_from_db()  # the database says when
        link = request.build_absolute_uri(reverse("accounts:invitation", args=[secret]))
        mailed = invitations.send_link(made, link)
        told = {**InvitationOut(made).data, "link": link, "mailed": mailed}
        return Response(told, status=201)


class Withdrawal(APIView):
    @extend_schema(request=None, responses=InvitationOut)
    @idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Close an open invitation: its link gives nothing from now on."""
        found = invitations.withdraw(actor_of(request), pk, slug)
        return Response(InvitationOut(found).data)
