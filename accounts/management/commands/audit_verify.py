"""`manage.py audit_verify`: walk the audit trail's hash chain on the database itself."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from accounts import sealing


class Command(BaseCommand):
    help = "Verify the hash chain over the audit trail; exits 1 where it is broken."

    def handle(self, *args: Any, **options: Any) -> None:
        found = sealing.verify()
        if not found.intact:
            raise CommandError(f"The audit trail is broken: {found.fault}.")
        self.stdout.write(f"Intact: {found.sealed} sealed, {found.pending} waiting. {found.head}")
