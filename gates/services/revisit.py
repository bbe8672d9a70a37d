"""Conditions that reopen a decision: watched by the tick, answered by people."""

import logging
from collections.abc import Iterable
from datetime import datetime

from django.db import DatabaseError, transaction
from django.db.models import QuerySet

from accounts.guard import SYSTEM_ACTOR, Actor
from accounts.services import record
from gates.lifecycle import Move, land
from gates.models import RevisitItem, Window
from gates.selectors.watched import ENUMERATED, Seen, live_windows, seen
from gates.states import RevisitState
from policies.models import Product

logger = logging.getLogger(__name__)

HOLDS = "The condition holds again."
NOT_LIVE = "The generation is no longer live."


def watch(product: Product, now: datetime) -> int:
    """Open an item for every condition that broke, close those that hold; returns how many opened.

    Safe to run twice or twice at once: one breach of one generation is one item, by constraint.
    """
    windows = live_windows(product)
    opened = 0
    for window in windows:
        found = seen(window, now)
        opened += sum(_opened(window, one, now) for one in found if one.is_broken)
        if found:
            _recover(window, found, now)
    _forget_dead(product, {window.digest for window in windows}, now)
    return opened


def watch_everywhere(now: datetime) -> int:
    """The same for every product with a live window; one that fails keeps no other waiting."""
    opened = 0
    for product in Product.objects.filter(windows__closes_at=None).distinct().order_by("id"):
        try:
            opened += watch(product, now)
        except DatabaseError:
            logger.exception("revisit conditions of %s were not read", product.slug)
    return opened


def acknowledge(
    actor: Actor, pk: int, now: datetime, expected_version: int | None = None
) -> RevisitItem:
    """Say that somebody looks into it."""
    return land(pk, Move.ACKNOWLEDGE, actor, now, expected_version=expected_version)


def resolve(
    actor: Actor, pk: int, now: datetime, reason: str, expected_version: int | None = None
) -> RevisitItem:
    """A person's answer. The breach stays answered until the condition held again."""
    return land(pk, Move.RESOLVE, actor, now, reason=reason, expected_version=expected_version)


def _opened(window: Window, one: Seen, now: datetime) -> bool:
    """One more item, or the sign that the one that is there still has its reason."""
    with transaction.atomic():
        row, is_new = RevisitItem.objects.get_or_create(
            product=window.product,
            digest=window.digest,
            trigger=one.trigger.name,
            subject=one.subject,
            recovered_at=None,
            defaults={
                "publication": window.publication,
                "owner": one.trigger.owner,
                "opened_at": now,
                "seen_at": now,
                "evidence": one.evidence,
            },
        )
        if is_new:
            _audited(row, one)
        else:
            RevisitItem.objects.filter(pk=row.pk, seen_at__lt=now).update(seen_at=now)
    return is_new


def _audited(row: RevisitItem, one: Seen) -> None:
    record(
        SYSTEM_ACTOR,
        "revisit.opened",
        product=row.product.slug,
        obj=("revisit", str(row.pk)),
        after=row.digest,
        data={"trigger": row.trigger, "subject": row.subject, "said": one.evidence["said"]},
    )


def _recover(window: Window, found: Iterable[Seen], now: datetime) -> None:
    """What is told to hold holds; of what is enumerated, so does what is not told."""
    broken = {(one.trigger.name, one.subject) for one in found if one.is_broken}
    held = {(one.trigger.name, one.subject) for one in found if one.is_broken is False}
    for row in _unrecovered(window.product).filter(digest=window.digest):
        key = row.trigger, row.subject
        if key in held or (row.trigger in ENUMERATED and key not in broken):
            _recovered(row, now, HOLDS)


def _forget_dead(product: Product, live: set[str], now: datetime) -> None:
    for row in _unrecovered(product).exclude(digest__in=live):
        _recovered(row, now, NOT_LIVE)


def _unrecovered(product: Product) -> QuerySet[RevisitItem]:
    return RevisitItem.objects.filter(product=product, recovered_at=None)


def _recovered(row: RevisitItem, now: datetime, why: str) -> None:
    """An item that a person has answered only notes it; another becomes resolved by it."""
    with transaction.atomic():
        locked = RevisitItem.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if locked.recovered_at is not None:
            return
        if locked.status in RevisitState.waiting():
            columns = {"recovered_at": now}
            land(row.pk, Move.RECOVER, SYSTEM_ACTOR, now, reason=why, columns=columns)
        else:
            RevisitItem.objects.filter(pk=row.pk).update(recovered_at=now)
