"""Sign the newest publication again: before it expires, for a new key, for a changed fleet.

The number and what it says stay. Edges take equal content that was issued later; no cohort, clock
or gate begins anew.
"""

import logging
from datetime import datetime, timedelta
from functools import lru_cache

import msgspec

from orchid.engine.wire.bundle import Bundle, BundleRefused, verify
from policies.models import Product
from releases.keys import signing_keys, verifying_keys
from releases.models import Publication
from releases.services.issue import ACCEPTED_FOR, announce, signed
from releases.services.slices import slices_of

logger = logging.getLogger(__name__)
RENEWED_BEFORE = ACCEPTED_FOR / 2
#: Edges that come one by one are not each a new bundle for all others.
FLEET_SETTLES = timedelta(seconds=10)


def step(product: Product, publication: Publication, now: datetime) -> bool:
    """Sign again when that is due; whether it was. The caller holds the product's lock."""
    try:
        bundle = as_signed(publication)
    except BundleRefused as refused:
        # Whoever changed the row would get a signature for it.
        logger.error("publication %s isn't what we signed: %s", publication.pk, refused)
        return False
    fresh = _renewed(bundle, slices_of(product), now)
    if not _is_due(publication, bundle, fresh, now):
        return False
    Publication.objects.filter(pk=publication.pk).update(**signed(fresh))
    publication.refresh_from_db()
    announce(publication)
    logger.info("publication %s of %s is signed again", publication.number, product.slug)
    return True


def as_signed(publication: Publication) -> Bundle:
    """The bundle of a row. Raises BundleRefused where no key of ours ever signed it."""
    slug, number = publication.product.slug, publication.number
    return _verified(publication.token, slug, number, publication.issued_at)


@lru_cache(maxsize=256)
def _verified(token: str, slug: str, number: int, at: datetime) -> Bundle:
    """Asked at every tick, and what a token says never changes."""
    return verify(token, verifying_keys(), product=slug, floor_publication=number, now=at)


def _renewed(bundle: Bundle, slices: dict[str, float], now: datetime) -> Bundle:
    return msgspec.structs.replace(
        bundle,
        issued_at=max(now, bundle.issued_at),  # a clock may have been set back
        not_before=now,
        expires_at=now + ACCEPTED_FOR,
        next_keys={key.kid: key.jwk for key in signing_keys()[1:]},
        slices=slices,
    )


def _is_due(publication: Publication, bundle: Bundle, fresh: Bundle, now: datetime) -> bool:
    if publication.kid != signing_keys()[0].kid or bundle.next_keys != fresh.next_keys:
        return True
    if bundle.slices != fresh.slices and now - bundle.issued_at >= FLEET_SETTLES:
        return True
    return bundle.expires_at - now < RENEWED_BEFORE
