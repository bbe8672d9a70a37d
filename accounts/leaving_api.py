"""People's accounts for programs: who there is, and ending and restoring one."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.guard import Permission, actor_of, require
from accounts.idempotency import idempotent
from accounts.leaving import Account, account, end_account, restore_account, told
from accounts.models import Grant, User
from accounts.roles import EVERY_PRODUCT
from accounts.shapes import Why
from controlplane.rest import listed, taken


class PersonOut(serializers.ModelSerializer[User]):
    name = serializers.CharField(source="username")

    class Meta:
        model = User
        fields = ("name", "display_name", "email", "is_active", "date_joined")


class RoleOut(serializers.ModelSerializer[Grant]):
    product = serializers.CharField(source="product_slug", help_text="`*` is every product.")

    class Meta:
        model = Grant
        fields = ("id", "product", "role", "granted_at")


class TokenNameOut(serializers.Serializer[Any]):
    product = serializers.CharField()
    kind = serializers.CharField()
    name = serializers.CharField()
    prefix = serializers.CharField()


class AccountOut(serializers.Serializer[Any]):
    """`tokens` are those that would fall with the account: never shown, only named."""

    person = PersonOut()
    roles = RoleOut(many=True)
    tokens = TokenNameOut(many=True)


class EndedOut(serializers.Serializer[Any]):
    person = PersonOut()
    tokens = TokenNameOut(many=True, help_text="Those that fell.")
    sessions_ended = serializers.IntegerField()


class Ending(Why):
    tokens_fall = serializers.BooleanField(
        default=False, help_text="That the tokens which this person answers for are revoked."
    )


class People(APIView):
    @extend_schema(responses=PersonOut(many=True))
    def get(self, request: Request) -> Response:
        """Everybody who has or had an account, the newest first."""
        require(actor_of(request), Permission.ADMINISTER, EVERY_PRODUCT, reading=True)
        return listed(request, User.objects.all(), PersonOut, "date_joined")


class OnePerson(APIView):
    @extend_schema(responses=AccountOut)
    def get(self, request: Request, name: str) -> Response:
        """What somebody may, and the tokens that would fall with them."""
        return Response(_told(account(actor_of(request), name)))


class EndAccount(APIView):
    @extend_schema(request=Ending, responses=EndedOut)
    @idempotent
    def post(self, request: Request, name: str) -> Response:
        """Let somebody in no longer; 409 `tokens_fall` names what would stop."""
        done = end_account(actor_of(request), name, **taken(Ending, request))
        told_of = {"tokens": told(done.tokens), "sessions_ended": done.sessions}
        return Response({"person": PersonOut(done.person).data, **told_of})


class RestoreAccount(APIView):
    @extend_schema(request=Why, responses=AccountOut)
    @idempotent
    def post(self, request: Request, name: str) -> Response:
        """Let somebody in again, with the roles that they had."""
        return Response(_told(restore_account(actor_of(request), name, **taken(Why, request))))


def _told(found: Account) -> dict[str, Any]:
    return {
        "person": PersonOut(found.person).data,
        "roles": RoleOut(found.grants, many=True).data,
        "tokens": told(found.tokens),
    }
