"""Send what is due over leased rows, and try again later what was not taken."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from email.errors import MessageError
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import NotFound
from policies.models import Product
from releases.models import Delivery, Notice
from releases.services.outbound import Message, Outcome, send_all, signature
from releases.services.webhooks import SecretLost, secret_of
from releases.states import DeliveryState

AT_ONCE = 20
LEASE = timedelta(seconds=60)  # sending takes less; a worker that died is followed by another
MOST_TRIES = 10
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=5), timedelta(hours=1)
DELIVERED = 200  # of a mail that a server took


def send_due(now: datetime | None = None) -> int:
    """Send what is due, a batch of it; returns how many were taken.

    Nothing is locked while it is sent. A delivery whose worker died is sent again, so a receiver
    may see one twice: its id is the same.
    """
    at = now or timezone.now()
    taken = 0
    for row, outcome in _sent(_leased(at), at):
        _note(row, outcome, at)
        taken += outcome.is_taken
    return taken


def resend(actor: Actor, product: Product, pk: int, now: datetime | None = None) -> Delivery:
    """Begin the tries of one delivery anew."""
    require(actor, Permission.ADMINISTER, product.slug)
    with transaction.atomic():
        rows = Delivery.objects.select_for_update(of=("self",)).select_related("notice")
        row = rows.filter(pk=pk, notice__product=product).first()
        if row is None:
            raise NotFound("not_found", f"{product.slug} has no delivery {pk}.")
        row.state, row.tries, row.due_at = DeliveryState.WAITING, 0, now or timezone.now()
        row.ended_at = row.lease_until = None
        row.save()
        record(actor, "delivery.resend", product=product.slug, obj=("delivery", row.pk))
    return row


def _leased(now: datetime) -> Sequence[Delivery]:
    """Take what is due and nobody else is sending; ended webhooks are told no more."""
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    wanted = Q(webhook=None) | Q(webhook__ended_at=None)
    due = Delivery.objects.filter(free, wanted, state=DeliveryState.WAITING, due_at__lte=now)
    with transaction.atomic():
        locked = due.select_for_update(skip_locked=True, of=("self",)).order_by("due_at")
        picked = list(locked.values_list("pk", flat=True)[:AT_ONCE])
        Delivery.objects.filter(pk__in=picked).update(lease_until=now + LEASE)
    rows = Delivery.objects.filter(pk__in=picked)
    return list(rows.select_related("notice__product", "webhook", "user"))


def _sent(rows: Sequence[Delivery], at: datetime) -> Iterator[tuple[Delivery, Outcome]]:
    """Each with what came of it; one that can't be sent keeps none of the others."""
    messages: list[tuple[Delivery, Message]] = []
    for row in rows:
        if row.webhook is None:
            continue
        try:
            messages.append((row, _message(row, at)))
        except SecretLost as lost:
            yield row, Outcome(None, str(lost))
    hooks = [row for row, _ in messages]
    yield from zip(hooks, send_all([one for _, one in messages]) if hooks else [], strict=True)
    yield from ((row, _mailed(row)) for row in rows if row.webhook is None)


def _message(row: Delivery, at: datetime) -> Message:
    assert row.webhook is not None
    body = json.dumps(notice_json(row.notice), sort_keys=True).encode()
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "Orchid",
        "Orchid-Delivery": str(row.pk),
        "Orchid-Signature": signature(secret_of(row.webhook), at, body),
    }
    return Message(row.webhook.url, body, headers, private=settings.WEBHOOKS_PRIVATE)


def notice_json(notice: Notice) -> dict[str, object]:
    """`orchid.notice/v1`: what a webhook is told."""
    return {
        "schema": "orchid.notice/v1",
        "id": notice.pk,
        "product": notice.product.slug,
        "kind": notice.kind,
        "title": notice.title,
        "text": notice.text,
        "url": f"{settings.SITE_URL}{notice.path}",
        "at": notice.at.isoformat(),
    }


def _mailed(row: Delivery) -> Outcome:
    assert row.user is not None
    notice = row.notice
    subject = " ".join(f"[{notice.product.slug}] {notice.title}".split())
    text = f"{notice.text}\n\n{settings.SITE_URL}{notice.path}\n"
    try:
        send_mail(subject, text, None, [row.user.email])
    except (SMTPException, OSError, ValueError, MessageError) as problem:  # or no address at all
        return Outcome(None, f"{problem or type(problem).__name__}"[:300])
    return Outcome(DELIVERED, "The mail server took it.")


def _note(row: Delivery, outcome: Outcome, now: datetime) -> None:
    """A resend meanwhile wins: only the row that was leased here is written."""
    tries = row.tries + 1
    over = outcome.is_taken or tries >= MOST_TRIES
    state = DeliveryState.DELIVERED if outcome.is_taken else DeliveryState.GIVEN_UP
    Delivery.objects.filter(pk=row.pk, tries=row.tries, lease_until=now + LEASE).update(
        tries=tries,
        status=outcome.status,
        words=outcome.words[:300],
        lease_until=None,
        state=state if over else DeliveryState.WAITING,
        ended_at=timezone.now() if over else None,
        due_at=now + min(FIRST_PAUSE * 2 ** (tries - 1), LONGEST_PAUSE),
    )
