"""`manage.py end_person NAME REASON`: somebody left, and nobody can do it by a page."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.guard import SYSTEM_ACTOR
from accounts.leaving import end_account, restore_account
from controlplane.errors import Problem


class Command(BaseCommand):
    help = "End a person's account: sessions end, and their tokens with --tokens-fall."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument("reason")
        parser.add_argument("--tokens-fall", action="store_true", help="Revoke their tokens too.")
        parser.add_argument("--restore", action="store_true", help="Let them in again instead.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(_done(options))
        except Problem as refused:
            raise CommandError(refused.detail) from refused


def _done(options: dict[str, Any]) -> str:
    name, reason = options["name"], options["reason"]
    if options["restore"]:
        return f"{restore_account(SYSTEM_ACTOR, name, reason).person.username} is let in again."
    ended = end_account(SYSTEM_ACTOR, name, reason, tokens_fall=options["tokens_fall"])
    fell = ", ".join(f"{one.kind} {one.name} of {one.product_slug}" for one in ended.tokens)
    return f"{ended.person.username} is let in no longer." + (f" Revoked: {fell}." if fell else "")
