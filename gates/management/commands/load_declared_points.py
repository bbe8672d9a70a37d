"""manage.py load_declared_points PRODUCT FILE"""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from gates.services import load_declared_points
from policies.selectors import product


class Command(BaseCommand):
    """Loads the outcomes that a product declares, for the frontier picture."""

    help = "Load an orchid.declared-points/v1 file into a product."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("product")
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        text = options["file"].read_text(encoding="utf-8")
        points = load_declared_points(product(options["product"]), text)
        self.stdout.write(f"{len(points)} declared points of {options['product']}")
