"""Write the completion times of a product's requests as one column, for `orchid audit`.

The column is a NumPy file of float64 milliseconds, a request a value, infinity for one that never
ended whole: just the requests that the latency gate counts, without anything else about them.
"""

from datetime import datetime
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError, CommandParser

from ingest.selectors.completions import completions
from policies.selectors import product as product_named


def moment(text: str) -> datetime:
    """A time with its offset."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError("a time without an offset")
    return at


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("product", help="the product's short name")
        parser.add_argument("digest", help="of the generation's document")
        parser.add_argument("--publication", type=int, required=True)
        parser.add_argument("--cohort", default="incumbent", choices=("incumbent", "candidate"))
        parser.add_argument("--from", dest="start", type=moment, required=True)
        parser.add_argument("--to", dest="end", type=moment, required=True)
        parser.add_argument("--out", required=True, help="a file that ends with .npy")

    def handle(self, *args: Any, **options: Any) -> None:
        """Nothing is written where no request was counted."""
        stream = (options["digest"], options["publication"], options["cohort"])
        product = product_named(options["product"])
        times = completions(product, *stream, options["start"], options["end"])
        if not len(times):
            raise CommandError("No request of this generation was counted in these hours.")
        with open(options["out"], "wb") as file:
            np.save(file, times)
        self.stdout.write(f"{len(times):,} completion times in {options['out']}")
