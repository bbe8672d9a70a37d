"""`manage.py reset_factor NAME REASON`: for the only owner, whom no other can help."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.guard import SYSTEM_ACTOR
from accounts.lost_factor import reset_factors
from controlplane.errors import Problem


class Command(BaseCommand):
    help = "Take away a person's second factor; their sessions end and they are told by mail."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("reason")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done = reset_factors(SYSTEM_ACTOR, options["name"], options["reason"])
        except Problem as refused:
            raise CommandError(refused.detail) from refused
        told = "They are told by mail." if done.mailed else "No mail reached them."
        self.stdout.write(f"{done.person.username} signs in with the password alone now. {told}")
