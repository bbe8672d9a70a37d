"""How much of a product's traffic came by way of each edge, of late."""

from datetime import datetime

from ingest.models import SourceTally
from ingest.services.tallies import minute_of
from ingest.states import SourceKind
from policies.models import Product

MINUTES = 6  # whole and begun ones; a tally keeps no more


def stored_by_sender(product: Product, now: datetime) -> dict[str, int]:
    """Requests stored in the last minutes, by the name under which an edge sends them."""
    oldest = minute_of(now) - MINUTES
    tallies = SourceTally.objects.filter(source__product=product, source__kind=SourceKind.EDGE)
    return {
        name: sum(count for minute, count in recent.items() if int(minute) > oldest)
        for name, recent in tallies.values_list("source__name", "recent")
    }
