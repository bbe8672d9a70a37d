"""Tell what has to be told, found in what is stored: never inside what decided it."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db import transaction

from policies.models import Product
from releases.models import Delivery, Notice, Webhook
from releases.services.facts import Fact, reviewing, running

LOOKS_BACK = timedelta(days=1)  # what nobody was told of for so long is history


def gather(product: Product, now: datetime) -> int:
    """Store what is new, with a delivery for each address and person; returns how much it was."""
    found = list(_facts(product, now))
    known = set(
        Notice.objects.filter(product=product, key__in=[one.key for one in found]).values_list(
            "key", flat=True
        )
    )
    fresh = [one for one in found if one.key not in known]
    for one in fresh:
        _store(product, one, now)
    return len(fresh)


def _store(product: Product, fact: Fact, now: datetime) -> None:
    with transaction.atomic():
        notice, made = Notice.objects.get_or_create(
            product=product,
            key=fact.key,
            defaults={
                "kind": fact.kind,
                "title": fact.title[:300],
                "text": fact.text[:2000],
                "path": fact.path,
                "at": fact.at,
                "made_at": now,
            },
        )
        if made:  # two ticks that find it at once: one of them tells
            hooks = Webhook.objects.filter(product=product, ended_at=None)
            wanting = [hook for hook in hooks if fact.kind in hook.kinds]
            people = {user.pk: user for user in fact.people if user.email}.values()
            Delivery.objects.bulk_create(
                [Delivery(notice=notice, webhook=hook, due_at=now) for hook in wanting]
                + [Delivery(notice=notice, user=user, due_at=now) for user in people]
            )


def _facts(product: Product, now: datetime) -> Iterator[Fact]:
    since = now - LOOKS_BACK
    yield from reviewing(product, now, since)
    yield from running(product, now, since)
