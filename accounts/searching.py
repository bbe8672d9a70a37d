"""Find acts in the audit trail, within what the viewer may read."""

from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from django.db.models import Q, QuerySet

from accounts.guard import Actor, Permission, products_with
from accounts.models import AuditEvent
from accounts.roles import EVERY_PRODUCT


@dataclass(frozen=True)
class AuditFilter:
    """What is asked for; empty fields ask nothing.

    `actor` did it, `person` did it or it was done to them. `generation` (a number of the product)
    and `segment` also find what was later done with that content.
    """

    product: str = ""
    actor: str = ""
    person: str = ""
    generation: str = ""
    segment: str = ""
    action: str = ""
    text: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def asked(self) -> dict[str, str]:
        """The fields that ask something, as text."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _text(value) for name, value in given.items() if value}


def audit_events(viewer: Actor, wanted: AuditFilter) -> QuerySet[AuditEvent]:
    """Events of the products whose trail the viewer may read; those of none need it for all."""
    events = AuditEvent.objects.select_related("seal")
    slugs = products_with(viewer, Permission.AUDIT)
    if EVERY_PRODUCT not in slugs:
        events = events.filter(product_slug__in=slugs)
    return events.filter(_asked(wanted))


def _asked(wanted: AuditFilter) -> Q:
    product = Q(product_slug=wanted.product) if wanted.product else Q()
    parts = [
        product,
        Q(actor=wanted.actor) if wanted.actor else Q(),
        _of_person(wanted.person) if wanted.person else Q(),
        _of_generation(wanted.generation, product) if wanted.generation else Q(),
        _of_segment(wanted.segment, product) if wanted.segment else Q(),
        Q(action__startswith=wanted.action) if wanted.action else Q(),
        _mentions(wanted.text) if wanted.text else Q(),
        Q(at__gte=wanted.since) if wanted.since else Q(),
        Q(at__lt=wanted.until) if wanted.until else Q(),
    ]
    found = Q()
    for part in parts:
        found &= part
    return found


def _of_person(name: str) -> Q:
    """What they did, what was done to them, and what their machines' credentials are."""
    return Q(actor=name) | Q(object_type="user", object_id=name) | Q(data__contains={"owner": name})


def _of_generation(number: str, product: Q) -> Q:
    """Acts on the generation by its number, and on its texts by their digests."""
    itself = Q(object_type="generation", object_id=number)
    return itself | _on_content(AuditEvent.objects.filter(product, itself))


def _of_segment(segment: str, product: Q) -> Q:
    """Acts that name the segment, and those on a content that changed something of it."""
    named = Q(data__contains={"segments": [segment]}) | Q(data__contains={"segment": segment})
    drafted = AuditEvent.objects.filter(product, named, object_type="generation")
    return named | Q(reason__icontains=segment) | _on_content(drafted)


def _on_content(drafted: QuerySet[AuditEvent]) -> Q:
    digests = drafted.exclude(digest_after="").values("digest_after")
    return Q(digest_after__in=digests) | Q(digest_before__in=digests)


def _mentions(text: str) -> Q:
    """An object's number, or the beginning of a digest or of a request id."""
    digest = text if text.startswith("sha256:") else f"sha256:{text}"
    return (
        Q(object_id=text)
        | Q(digest_before__startswith=digest)
        | Q(digest_after__startswith=digest)
        | Q(request_id__startswith=text)
        | Q(reason__icontains=text)
    )


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
