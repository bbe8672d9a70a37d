"""Tell ingest what its servers are expected to hold: a fact on their sources, which it reads."""

from ingest.models import Source
from ingest.states import SourceKind
from policies.models import Product
from releases.models import Publication


def tell_servers(product: Product, publication: Publication) -> int:
    """Write what a publication serves on every source of a server that doesn't say so yet.

    A server that was registered or started again after the publication is told at the next tick.
    Returns how many were told.
    """
    told = {
        "publication": publication.number,
        "live": publication.incumbent_digest,
        "candidate": publication.candidate_digest,
        "pools": publication.pools,
    }
    servers = Source.objects.filter(product=product, kind=SourceKind.POLLED)
    return servers.exclude(expected_manifest=told).update(expected_manifest=told)
