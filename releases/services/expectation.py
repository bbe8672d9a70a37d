"""Tell ingest what its servers are expected to hold and how edges' clocks go: facts on sources."""

from ingest.models import Source
from ingest.services.clocks import note_skew
from ingest.states import SourceKind
from policies.models import Product
from releases.models import EdgeSeen, Publication


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


def tell_clocks(product: Product) -> int:
    """Write on an edge's source that its own clock was off when it last answered a publication.

    An edge behind ours shows in no record, since its requests only seem to be older. Returns how
    many clocks were off and had not been told of.
    """
    heard = EdgeSeen.objects.filter(
        edge__product=product, edge__retired_at=None, clock_skew_ms__isnull=False
    )
    told = heard.values_list("edge__credential__name", "clock_skew_ms", "at")
    # What releases keeps is how much later it was here than there.
    return sum(note_skew(product, name, -(late_ms or 0.0), at) for name, late_ms, at in told)
