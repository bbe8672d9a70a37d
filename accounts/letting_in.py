"""Service tokens and roles of a product, for programs: what the Access page does.

Issuing and replacing take no Idempotency-Key: a stored answer would keep the token. Asked twice
they are refused, by the name that is taken and by the token that is replaced already.
"""

from datetime import timedelta
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import selectors, services
from accounts.forms import CI_SCOPES
from accounts.guard import Actor, Permission, actor_of, require
from accounts.idempotency import idempotent
from accounts.models import ROLE_CHOICES_OF_PEOPLE, Credential, Grant, User
from accounts.roles import MACHINES
from accounts.services.rotation import LONGEST_OVERLAP, rotate_credential
from accounts.shapes import Why
from controlplane.errors import BadInput, NotFound
from controlplane.rest import listed, taken

LONGEST_OVERLAP_S = int(LONGEST_OVERLAP.total_seconds())


class NewToken(serializers.Serializer[Any]):
    """`lifetime_days` null is until it is revoked."""

    kind = serializers.ChoiceField(choices=[role.value for role in MACHINES])
    name = serializers.RegexField(r"^[A-Za-z0-9._-]{1,80}$")
    lifetime_days = serializers.IntegerField(
        min_value=1, max_value=3650, allow_null=True, default=90
    )
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=CI_SCOPES), default=list)


class Replacement(serializers.Serializer[Any]):
    overlap_s = serializers.IntegerField(min_value=0, max_value=LONGEST_OVERLAP_S, default=86_400)
    reason = serializers.CharField(max_length=400)


class NewRole(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(choices=ROLE_CHOICES_OF_PEOPLE)


class TokenOut(serializers.ModelSerializer[Credential]):
    product = serializers.CharField(source="product_slug")
    owner = serializers.CharField(source="owner.username")

    class Meta:
        model = Credential
        fields: tuple[str, ...] = (
            "id",
            "product",
            "kind",
            "name",
            "prefix",
            "scopes",
            "owner",
            "created_at",
            "expires_at",
            "superseded_at",
            "revoked_at",
        )


class IssuedToken(TokenOut):
    token = serializers.CharField(help_text="In this one answer and nowhere else.")

    class Meta(TokenOut.Meta):
        fields = (*TokenOut.Meta.fields, "token")


class RoleHeld(serializers.ModelSerializer[Grant]):
    product = serializers.CharField(source="product_slug", help_text="`*` is every product.")
    username = serializers.CharField(source="user.username")

    class Meta:
        model = Grant
        fields = ("id", "product", "username", "role", "granted_at")


class Tokens(APIView):
    @extend_schema(responses=TokenOut(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Every credential of the product, the newest first; never what a machine shows."""
        _reader(request, slug)
        return listed(request, selectors.credentials_of(slug), TokenOut, "created_at")

    @extend_schema(request=NewToken, responses={201: IssuedToken})
    def post(self, request: Request, slug: str) -> Response:
        """A token that you answer for, in this answer alone."""
        actor, data = _owner(request, slug), taken(NewToken, request)
        days = data.pop("lifetime_days")
        ends_at = timezone.now() + timedelta(days=days) if days else None
        if actor.owner is None:
            raise BadInput("owner_missing", "A person has to answer for a token.")
        return _issued(
            services.issue_credential(
                actor, product_slug=slug, owner=actor.owner, expires_at=ends_at, **data
            )
        )


class RotateToken(APIView):
    @extend_schema(request=Replacement, responses={201: IssuedToken})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """A new token of the same name, in this answer alone; the old one counts a while."""
        actor, data = _owner(request, slug), taken(Replacement, request)
        overlap = timedelta(seconds=data["overlap_s"])
        return _issued(rotate_credential(actor, pk, slug, overlap, data["reason"]))


class RevokeToken(APIView):
    @extend_schema(request=Why, responses=TokenOut)
    @idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """It counts no longer; revoked twice is revoked."""
        actor, data = _owner(request, slug), taken(Why, request)
        return Response(TokenOut(services.revoke_credential(actor, pk, data["reason"], slug)).data)


class Roles(APIView):
    @extend_schema(responses=RoleHeld(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Who holds which role here, those for every product included."""
        _reader(request, slug)
        return listed(request, selectors.grants_in(slug), RoleHeld, "granted_at")

    @extend_schema(request=NewRole, responses={201: RoleHeld})
    @idempotent
    def post(self, request: Request, slug: str) -> Response:
        """A role for somebody who has an account; given again it changes nothing."""
        actor, data = _owner(request, slug), taken(NewRole, request)
        user = User.objects.filter(username=data["username"], is_active=True).first()
        if user is None:
            said = "Nobody has an account of that name. Invite them instead."
            raise NotFound("not_found", said)
        given = services.grant(actor, user, data["role"], slug)
        given.refresh_from_db()  # the database says when
        return Response(RoleHeld(given).data, status=201)


class TakeRole(APIView):
    @extend_schema(request=Why, responses=RoleHeld)
    @idempotent
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Take a role back, as of now; 409 `last_owner` for the last who can give roles."""
        actor, data = _owner(request, slug), taken(Why, request)
        lost = services.revoke_grant(actor, pk, slug, data["reason"])
        return Response({**RoleHeld(lost).data, "id": pk})


def _reader(request: Request, slug: str) -> None:
    require(actor_of(request), Permission.VIEW, slug)
    require(actor_of(request), Permission.ADMINISTER, slug, reading=True)


def _owner(request: Request, slug: str) -> Actor:
    """Whoever may let in; asked before anything that was sent is looked at."""
    actor = actor_of(request)
    require(actor, Permission.VIEW, slug)
    require(actor, Permission.ADMINISTER, slug)
    return actor


def _issued(made: tuple[Credential, str]) -> Response:
    credential, token = made
    credential.refresh_from_db()  # the database says when
    return Response({**TokenOut(credential).data, "token": token}, status=201)
