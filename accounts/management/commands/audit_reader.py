"""`manage.py audit_reader NAME OWNER`: a token that reads the trail of every product."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.guard import SYSTEM_ACTOR
from accounts.models import User
from accounts.roles import EVERY_PRODUCT, Role
from accounts.services import issue_credential
from controlplane.errors import Problem


class Command(BaseCommand):
    help = "Issue a token for `orchid audit verify` and `export`; it is shown this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="What the token is called in lists and in the trail.")
        parser.add_argument("owner", help="The person who answers for it.")

    def handle(self, *args: Any, **options: Any) -> None:
        owner = User.objects.filter(username=options["owner"], is_active=True).first()
        if owner is None:
            raise CommandError(f"There is nobody called {options['owner']}.")
        try:
            _, token = issue_credential(
                SYSTEM_ACTOR,
                kind=Role.AUDIT,
                name=options["name"],
                product_slug=EVERY_PRODUCT,
                owner=owner,
            )
        except Problem as refused:
            raise CommandError(refused.detail) from refused
        self.stdout.write(token)
