"""Follow each generation that left service until its last sequence has ended everywhere."""

from datetime import datetime

from policies.models import Product
from releases.models import Publication, Reconciliation
from releases.selectors.holdings import Holding, holdings


def step(product: Product, publication: Publication, now: datetime) -> None:
    """Note what left service, since when nothing runs under it, and what came back.

    Runs twice without harm: `settled_at` is set once and is taken back when an edge says otherwise.
    """
    coming = {publication.candidate_digest, *publication.served}
    left = publication.pools.keys() - coming
    rows = {row.digest: row for row in Reconciliation.objects.filter(product=product)}
    gone = [row.pk for digest, row in rows.items() if digest not in left]
    if gone:
        Reconciliation.objects.filter(pk__in=gone).delete()
    held = holdings(product, left, now) if left else {}
    for digest in sorted(left):
        row = rows.get(digest)
        if row is None:
            row = Reconciliation(product=product, digest=digest, began_at=publication.published_at)
        _note(row, held[digest], now)


def _note(row: Reconciliation, held: list[Holding], now: datetime) -> None:
    is_zero = all(one.is_zero for one in held)
    if row.pk is None or is_zero != (row.settled_at is not None):
        row.settled_at = now if is_zero else None
        row.save()
