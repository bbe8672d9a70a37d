"""Who else is told: addresses of a product, each with a secret that is shown once."""

import base64
import hashlib
import secrets
from collections.abc import Collection

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput, Conflict, NotFound
from policies.models import Product
from releases.lifecycle import lock_product
from releases.models import Webhook
from releases.services.outbound import AddressRefused, sound_address
from releases.states import NoticeKind

MOST = 20  # of a product


def create_webhook(
    actor: Actor, product: Product, url: str, kinds: Collection[str]
) -> tuple[Webhook, str]:
    """A new address, and the secret that signs what it is told; it is not shown again."""
    require(actor, Permission.ADMINISTER, product.slug)
    _refuse(url, kinds)
    secret = f"whsec_{secrets.token_urlsafe(32)}"
    try:
        with transaction.atomic():
            _refuse_more(product)
            row = Webhook.objects.create(
                product=product,
                url=url,
                kinds=sorted(set(kinds)),
                sealed_secret=_box().encrypt(secret.encode()).decode(),
                created_by=actor.name,
                created_at=timezone.now(),
            )
            _audited(actor, row, "webhook.create")
    except IntegrityError as error:
        raise Conflict("webhook_exists", "This address is told already.") from error
    return row, secret


def end_webhook(actor: Actor, product: Product, pk: int) -> Webhook:
    """Tell it no more; what was told stays in the log."""
    require(actor, Permission.ADMINISTER, product.slug)
    with transaction.atomic():
        rows = Webhook.objects.select_for_update().filter(product=product, pk=pk)
        row = rows.first()
        if row is None:
            raise NotFound("not_found", f"{product.slug} has no webhook {pk}.")
        if row.ended_at is None:
            row.ended_at = timezone.now()
            row.save(update_fields=["ended_at"])
            _audited(actor, row, "webhook.end")
    return row


class SecretLost(ValueError):  # noqa: N818 - it is told, not only raised
    """A secret that was sealed with another key than today's."""


def secret_of(webhook: Webhook) -> str:
    """What its messages are signed with. Raises SecretLost after the sealing key was changed."""
    try:
        return _box().decrypt(webhook.sealed_secret.encode()).decode()
    except InvalidToken as error:
        raise SecretLost(
            "Its secret was sealed with another key. End this address and name it again."
        ) from error


def _refuse(url: str, kinds: Collection[str]) -> None:
    if not kinds or set(kinds) - set(NoticeKind.values):
        known = ", ".join(NoticeKind.values)
        raise BadInput("unknown_kind", f"Name at least one of {known}.")
    try:
        sound_address(url, private=settings.WEBHOOKS_PRIVATE)
    except AddressRefused as refused:
        raise BadInput("bad_address", f"Nothing can be sent to {url}: {refused}.") from refused


def _refuse_more(product: Product) -> None:
    lock_product(product.pk)  # or several who count at one moment would all find room
    if Webhook.objects.filter(product=product, ended_at=None).count() >= MOST:
        raise Conflict("too_many_webhooks", f"A product tells {MOST} addresses at most.")


def _audited(actor: Actor, row: Webhook, action: str) -> None:
    record(
        actor,
        action,
        product=row.product.slug,
        obj=("webhook", row.pk),
        data={"url": row.url, "kinds": row.kinds},
    )


def _box() -> Fernet:
    key = hashlib.sha256(b"webhooks" + settings.WEBHOOK_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
