"""`manage.py keys list|rotate`: which key signs, and letting the next one sign."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from accounts import keys
from accounts.guard import SYSTEM_ACTOR
from accounts.keys import Purpose, Rotation
from accounts.services import record
from controlplane.errors import Conflict
from releases.selectors.edges import Standing, edge_facts
from releases.selectors.newest import newest_publications

#: What people call a purpose here, since the file's name is older than the second purpose.
PURPOSES = {"bundles": Purpose.BUNDLES, "audit": Purpose.AUDIT}


class Command(BaseCommand):
    help = "List the keys that sign bundles and the heads of the audit trail, or rotate them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("act", choices=["list", "rotate"])
        parser.add_argument("--purpose", choices=PURPOSES, default="bundles")
        parser.add_argument(
            "--at-once",
            action="store_true",
            help="Though the next key is new, or edges do not know it yet: one may be stolen.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        purpose = PURPOSES[options["purpose"]]
        if options["act"] == "rotate":
            self._rotate(purpose, at_once=options["at_once"])
        for line in _lines(purpose):
            self.stdout.write(line)

    def _rotate(self, purpose: Purpose, *, at_once: bool) -> None:
        behind = [] if at_once or purpose is Purpose.AUDIT else _behind()
        if behind:
            raise CommandError(
                f"{', '.join(behind)}: not on the newest publication, so the next key may be "
                "unknown there and its bundles refused. Mend or retire them, or use --at-once."
            )
        try:
            done = keys.rotate(purpose, timezone.now(), at_once=at_once)
        except Conflict as refused:
            raise CommandError(refused.detail) from refused
        _audited(purpose, done)
        self.stdout.write(
            f"{done.signs.kid} signs, {done.retired.kid} signs nothing more. The newest "
            "publication of each product is signed again within a second."
        )


@transaction.atomic
def _audited(purpose: Purpose, done: Rotation) -> None:
    record(
        SYSTEM_ACTOR,
        "key.rotated",
        obj=("key", done.signs.kid),
        before=done.retired.kid,
        after=done.signs.kid,
        data={"purpose": purpose.value, "announced": done.announced.kid},
    )


def _behind() -> list[str]:
    """Edges in service that don't run what they are wanted on, by product and name."""
    return [
        f"{publication.product.slug}/{fact.name}"
        for publication in newest_publications()
        for fact in edge_facts(publication.product, publication)
        if fact.standing != Standing.ACTIVE
    ]


def _lines(purpose: Purpose) -> list[str]:
    """Each key with what it does, the signing one first and those that sign no more last."""
    held = keys.keys_of(purpose)
    gone = keys.known_keys(purpose).keys() - {key.kid for key in held}
    lines = [
        f"{key.kid}  {'next' if number else 'signs'}  made {key.made_at:%Y-%m-%d %H:%M} UTC"
        for number, key in enumerate(held)
    ]
    return [*lines, *(f"{kid}  retired" for kid in sorted(gone))]
