"""Count a product's last hours again from the stored requests and compare with the rollups."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from ingest.selectors.recount import recount
from ingest.selectors.recounted import NOT_IN_ROWS
from policies.selectors import product as product_named

_SHOWN = 20


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("product", help="the product's short name")
        parser.add_argument("--hours", type=int, default=24, help="how far back (default 24)")

    def handle(self, *args: Any, product: str, hours: int, **options: Any) -> None:
        """Exit code 1 when anything differs."""
        end = timezone.now().replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)
        found = recount(product_named(product), end - timedelta(hours=hours), end)
        for one in found.differences[:_SHOWN]:
            self.stdout.write(f"{one.place}: {one.figure} is {one.rollup}, the rows say {one.rows}")
        told = f"{found.requests} requests in {found.steps} steps"
        if found.left_out:
            told += f"; {found.left_out} steps were counted by an edge itself and left out"
        for name in sorted(found.late_bounds):
            told += f"; {name} came while they were counted and is not compared"
        told += f"; not in rows and so not compared: {', '.join(NOT_IN_ROWS)}"
        if found.differences:
            raise CommandError(f"{told}: {len(found.differences)} figures differ.")
        self.stdout.write(f"{told}: the rollups say the same.")
