"""Receipts of deliveries: how long an id is recognised, and a body that nobody could count kept."""

from datetime import datetime

from django.db.models import Exists, OuterRef, Q

from ingest.models import Batch, ClientCall
from ingest.services.partitions import RECEIPTS, RETENTION
from ingest.states import EDGE_KINDS, BatchStatus, SourceKind

#: A tick deletes so many; the next one goes on.
ROUND = 5_000


def forget_receipts(now: datetime) -> int:
    """Delete receipts whose time is over; how many. Nothing that waits to be counted is touched.

    Edges deliver each second and send again within minutes; a file may be brought again by hand.
    What comes later still is counted once, by the ids of its records. A delivery set aside goes
    when its arrivals are past what is kept: a try would store nothing any more. A trial and
    recorded traffic stay without their receipts, and are known by their content.
    """
    done = Q(status=BatchStatus.DONE)
    kinds = (*EDGE_KINDS, SourceKind.SHADOW)
    of_edges = done & Q(kind__in=kinds, done_at__lt=now - RECEIPTS)
    of_files = done & Q(done_at__lt=now - RETENTION)
    aside = Q(status=BatchStatus.SET_ASIDE, received_at__lt=now - RETENTION)
    over = Batch.objects.filter(of_edges | of_files | aside)
    # A log's calls may be younger than its receipt, and name it.
    over = over.exclude(Exists(ClientCall.objects.filter(batch=OuterRef("pk"))))
    keys = list(over.order_by("pk").values_list("pk", flat=True)[:ROUND])
    # Without their bodies, which may be large where nobody could count them.
    _, gone = Batch.objects.filter(pk__in=keys).only("pk").delete()
    return gone.get("ingest.Batch", 0)
