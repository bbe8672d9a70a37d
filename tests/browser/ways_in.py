"""What pages of identity show: a person with factors, an invitation, a password to be reset."""

from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from django.contrib.auth.tokens import default_token_generator
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from accounts.guard import person
from accounts.invitations import invite
from accounts.models import User
from accounts.pressed import PRESSED

#: A form that ben sent when he had to confirm who he is; it is put into his session.
PRESSED_BY_BEN = {
    "action": "/products/orchid-demo/rollback/",
    "came_from": "/products/orchid-demo/rollback/",
    "button": "Rollback",
    "fields": [("leaves", "sha256:abc"), ("reason", "Time to an answer doubled at ten.")],
    "at": 4e9,  # in 2096: not over whenever this runs
}


def with_factors() -> None:
    """Cho has an authenticator app and recovery codes."""
    cho = User.objects.get(username="cho")
    TOTP.activate(cho, generate_totp_secret())
    RecoveryCodes.activate(cho)


def pages() -> list[tuple[str, str]]:
    """The pages of identity with the person who opens each; nobody where the name is empty."""
    ben = User.objects.get(username="ben")
    wish = {"email": "fay@example.org", "role": "auditor", "product_slug": "orchid-demo"}
    _, secret = invite(person(ben), **wish)
    uid = urlsafe_base64_encode(force_bytes(ben.pk))
    return [
        ("", "/login"),
        ("", "/password-reset"),
        ("", "/password-reset/sent"),
        ("", f"/password-reset/{uid}/{default_token_generator.make_token(ben)}"),
        ("", "/password-reset/done"),
        ("", f"/invitations/{secret}"),
        ("ben", "/account/"),
        ("ben", "/account/password"),
        ("ben", "/account/totp/add"),
        ("ben", "/account/keys/add"),
        ("ben", "/confirm/password"),
        ("ben", "/confirm/go-on"),
        ("ben", "/people/"),
        ("ben", "/people/ana/"),
        ("ben", "/people/cho/factors"),
        ("cho", "/account/"),
        ("cho", "/account/codes"),
        ("cho", "/account/codes/new"),
        ("cho", "/account/totp/remove"),
        ("cho", "/confirm/code"),
        ("eve", "/audit/"),
        ("eve", "/audit/verify"),
    ]


__all__ = ["PRESSED", "PRESSED_BY_BEN", "pages", "with_factors"]
