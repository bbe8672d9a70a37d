"""manage.py demo_load"""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from releases import demo


class Command(BaseCommand):
    """Loads the demo's products, people and tokens; running it again changes nothing."""

    help = "Load the example products, users of every role and tokens into var/secrets."

    def handle(self, *args: Any, **options: Any) -> None:
        made = demo.load(settings.BASE_DIR / "examples", settings.VAR_DIR / "secrets")
        for words in made:
            self.stdout.write(f"made {words}")
        self.stdout.write("The demo is loaded." if made else "The demo was loaded already.")
