"""`manage.py first_owner NAME EMAIL`: the person who can invite all others."""

from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.tokens import default_token_generator
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from accounts.guard import SYSTEM_ACTOR
from accounts.models import Grant, User
from accounts.roles import Role
from accounts.services import grant


class Command(BaseCommand):
    help = "Make the first product owner; prints a link, good for an hour, to choose a password."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("email")

    def handle(self, *args: Any, **options: Any) -> None:
        path = first_owner(options["name"], options["email"])
        self.stdout.write(
            f"Choose a password within the hour: {settings.CSRF_TRUSTED_ORIGINS[0]}{path}"
        )


@transaction.atomic
def first_owner(name: str, email: str) -> str:
    """The path at which they choose a password; refused once somebody owns every product."""
    others = Grant.objects.filter(role=Role.PRODUCT_OWNER).exclude(user__username=name)
    if others.exists():
        raise CommandError("There is a product owner already. Ask them for an invitation.")
    fresh = {"email": email, "password": make_password(None)}
    user, _ = User.objects.get_or_create(username=name, defaults=fresh)
    if user.has_usable_password():
        raise CommandError(f"{name} has a password already; the login page can reset it.")
    grant(SYSTEM_ACTOR, user, Role.PRODUCT_OWNER)
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    token = default_token_generator.make_token(user)
    return reverse("accounts:password_reset_confirm", args=[uid, token])
