"""How a machine shows who it is: `Authorization: Bearer orc_<kind>_...`."""

from typing import Any

from django.conf import settings
from django.db.models import Q
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed

from accounts.certificates import certificate_shown
from accounts.models import Credential
from accounts.services import token_hash


class MachinePrincipal:
    """What DRF sees as `request.user` when a machine asks; it owns no session and no password."""

    is_authenticated = True
    is_anonymous = False
    is_active = True
    is_superuser = False
    pk = None

    def __init__(self, credential: Credential) -> None:
        self.credential = credential
        self.username = f"{credential.kind}:{credential.name}"

    def __str__(self) -> str:
        return self.username


def credential_for(token: str) -> Credential | None:
    """The live credential of a token; None when unknown, expired or revoked."""
    return credential_shown(token_hash(token))


def credential_shown(shown: str) -> Credential | None:
    """The live credential behind a token's hash, or behind what stands for a certificate."""
    return (
        Credential.objects.select_related("owner")
        .filter(Q(expires_at__isnull=True) | Q(expires_at__gt=timezone.now()))
        .filter(token_hash=shown, revoked_at__isnull=True, owner__is_active=True)
        .first()
    )


class TokenAuthentication(BaseAuthentication):
    """A bearer token that isn't ours is left to other schemes; one of ours must be live.

    Without a token, a client certificate that a trusted proxy verified counts as well.
    """

    def authenticate(self, request: Any) -> tuple[MachinePrincipal, Credential] | None:
        scheme, _, token = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() == "bearer":
            credential = credential_for(token.strip())
        elif shown := certificate_shown(request.headers, settings.EDGES.proxy_secret):
            credential = credential_shown(shown)
        else:
            return None
        if credential is None:
            raise AuthenticationFailed("This token is unknown, expired or revoked.")
        return MachinePrincipal(credential), credential

    def authenticate_header(self, request: Any) -> str:
        return 'Bearer realm="orchid"'
