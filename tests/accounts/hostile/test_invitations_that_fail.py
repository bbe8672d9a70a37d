"""An invitation to what is no address, or while no mail leaves: said, and never half done."""

from typing import Any

import pytest

from accounts.models import Invitation
from tests.people import Cast
from tests.releases.releases_cast import SLUG

PAGE, API = f"/products/{SLUG}/access/invite", f"/api/v1/products/{SLUG}/invitations"


@pytest.fixture
def no_mail_leaves(settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1


def test_while_no_mail_leaves_the_link_is_there_to_be_passed_on(
    cast: Cast, no_mail_leaves: None
) -> None:
    wish = {"email": "new@example.org", "role": "engineer"}
    page = cast.browser("ben").post(PAGE, wish).content.decode()
    assert "The mail could not be sent: pass the link on yourself." in page
    assert "/invitations/" in page
    told = cast.browser("ben").post(API, wish, "application/json")
    assert (told.status_code, told.json()["mailed"]) == (201, False)
    assert told.json()["link"]


@pytest.mark.parametrize(
    "email",
    [
        "a" * 250 + "@example.org",
        "a@" + ".".join(["b" * 60] * 5) + ".org",
        "a\nb@example.org",
        "a@example.org\r\nBcc: all@example.org",
        "\u202ea@example.org",
        "a@b",
    ],
)
def test_what_is_no_address_is_invited_by_no_door(cast: Cast, email: str) -> None:
    wish = {"email": email, "role": "engineer"}
    page = cast.browser("ben").post(PAGE, wish)
    told = cast.browser("ben").post(API, wish, "application/json")
    assert (page.status_code, told.status_code) == (400, 400)
    assert "email" in told.json()["errors"]
    assert not Invitation.objects.exists()
