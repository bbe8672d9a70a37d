"""Which tenants keep their own names in rollups: those with the most traffic of late.

A batch notes how many requests each tenant had, in the transaction that counts it. The compactor's
tick adds the notes up in a ranking of bounded size and lets a tenant of `other` take the place of a
kept one whose traffic is certainly smaller. It is counted by name from then on; nothing that was
counted is moved.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import connection, transaction

from ingest.models import DimensionValue, TenantNote, TenantRanking
from ingest.services.dimensions import OTHER, TENANT, hold_values, most_of, named_by_documents
from orchid.engine.most_frequent import Counted, MostFrequent
from policies.models import Product

#: Traffic weighs half after so long, so that a quiet night changes little and a week everything.
HALF_LIFE = timedelta(days=1)
#: Tenants that are ranked for each one that is kept, so that a count's error is small.
_RANKED_FOR_EACH = 10
#: Tenants of one batch that are noted, the most frequent.
MOST_NOTED = 1_000
#: Notes of a product that one tick adds up; the next one goes on.
ROUND = 2_000
_RANKING_LOCK = 0x0C1D_0004


def note_tenants(product: Product, batch_pk: int, requests: Mapping[str, int]) -> None:
    """Note how many requests of a batch each tenant had, by its own name; once in its life."""
    named = Counter({name: n for name, n in requests.items() if n and name not in ("", OTHER)})
    if named:
        most = sorted(named.items(), key=lambda one: (-one[1], one[0]))[:MOST_NOTED]
        TenantNote.objects.create(product=product, batch_id=batch_pk, requests=dict(most))


def rank_tenants(now: datetime) -> int:
    """Add up what was noted; how many tenants came to be kept by name."""
    waiting = TenantNote.objects.order_by("product").values_list("product", flat=True).distinct()
    return sum(_rank(product, now) for product in Product.objects.filter(pk__in=waiting))


@transaction.atomic
def _rank(product: Product, now: datetime) -> int:
    """One product's; a second one that runs at the same time finds nothing to do."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_try_advisory_xact_lock(%s, %s)", [_RANKING_LOCK, product.pk % 2**31]
        )
        if not cursor.fetchone()[0]:
            return 0
    notes = list(TenantNote.objects.filter(product=product).order_by("pk")[:ROUND])
    ranking, _ = TenantRanking.objects.get_or_create(product=product, defaults={"at": now})
    found = MostFrequent(
        most_of(TENANT) * _RANKED_FOR_EACH,
        {name: Counted(*count) for name, count in ranking.held.items()},
    )
    found.fade(0.5 ** (max(now - ranking.at, timedelta(0)) / HALF_LIFE))
    found.add(sum((Counter(note.requests) for note in notes), Counter()))
    ranking.at = max(now, ranking.at)
    ranking.held = {name: [one.most, one.error] for name, one in found.held.items()}
    ranking.save()
    TenantNote.objects.filter(pk__in=[note.pk for note in notes]).delete()
    return _keep_the_most(product, found, now)


def _keep_the_most(product: Product, found: MostFrequent, now: datetime) -> int:
    free = {value for name, value in named_by_documents(product) if name == TENANT}
    hold_values(product)
    kept = DimensionValue.objects.filter(product=product, dimension=TENANT)
    names = set(kept.values_list("value", flat=True))
    come, gone = _changes(names, found, free, most_of(TENANT))
    kept.filter(value__in=gone).delete()
    DimensionValue.objects.bulk_create(
        DimensionValue(product=product, dimension=TENANT, value=value, kept_since=now)
        for value in sorted(come)
    )
    return len(come)


def _changes(
    kept: set[str], found: MostFrequent, free: set[str], most: int
) -> tuple[set[str], set[str]]:
    """Who comes and who goes: one that has certainly more for one that has at most so much.

    On a tie whoever is there stays.
    """
    weakest = sorted(kept, key=lambda name: (found.of(name).most, name))
    rivals = sorted(found.held.keys() - kept - free, key=lambda n: (-found.of(n).least, n))
    come, gone = set[str](), set(weakest[: max(0, len(kept) - most)])
    weakest = weakest[len(gone) :]
    room = most - len(weakest)
    for rival in rivals:
        if room > 0:
            room -= 1
        elif weakest and found.of(rival).least > found.of(weakest[0]).most:
            gone.add(weakest.pop(0))
        else:
            break
        come.add(rival)
    return come, gone
