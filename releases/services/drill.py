"""Rehearse a rollback: everything but the number and the switch, measured at every edge."""

import time
from datetime import datetime, timedelta

from django.db import connection, transaction

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import Conflict
from orchid.engine.wire.drill import sign_drill
from policies.models import Product
from releases.keys import signing_keys
from releases.lifecycle import lock_product
from releases.models import Drill, Edge, Publication
from releases.selectors.drill import last_drill
from releases.selectors.edges import SILENT_AFTER
from releases.selectors.proven import target
from releases.services.channel import CHANNEL
from releases.services.issue import Serving, bundle_for, latest
from releases.services.pools import pool_of, pools_for
from releases.states import DrillState, PublicationKind

ANSWER_WITHIN = timedelta(seconds=15)


def start_drill(
    actor: Actor, product: Product, reason: str = "", now: datetime | None = None
) -> tuple[Drill, bool]:
    """Offer every edge that is heard what a rollback would publish now, as a rehearsal.

    Nothing is published, no number is taken and no edge changes what it decides by. Returns the
    drill and whether this call made it: one that runs is joined. 409 `nothing_to_restore` or
    `no_edge_heard`.
    """
    require(actor, Permission.ROLLBACK, product.slug)
    with transaction.atomic():
        locked = lock_product(product.pk)
        at = now or _clock()
        running = last_drill(locked, at)
        if running is not None and running.state == DrillState.RUNNING:
            return running.drill, False
        current, digest = _restorable(locked)
        drill = _drilled(actor, locked, current, digest, reason.strip(), at)
        _hint(drill)
        _audited(actor, drill)
        return drill, True


def _restorable(product: Product) -> tuple[Publication, str]:
    current = latest(product)
    if current is None:
        raise Conflict("nothing_to_restore", "Nothing has been published yet.")
    digest = target(product, current)
    if digest is None:
        raise Conflict(
            "nothing_to_restore",
            f"Publication {current.number} is itself the rollback; it is what is wanted now.",
        )
    return current, digest


def _drilled(
    actor: Actor, product: Product, current: Publication, digest: str, reason: str, at: datetime
) -> Drill:
    began = time.perf_counter()
    asked, silent = _edges(product, at)
    if not asked:
        raise Conflict("no_edge_heard", "No edge is heard, so there is nobody to rehearse with.")
    bundle = bundle_for(
        product,
        PublicationKind.ROLLBACK,
        Serving(digest),
        number=current.number + 1,
        previous=current.number,
        pools=pools_for(product, [digest], current, at),
        now=at,
    )
    key = signing_keys()[0]
    token = sign_drill(bundle, key.pem, key.kid)
    return Drill.objects.create(
        product=product,
        publication=current,
        digest=digest,
        pool=pool_of(digest),
        token=token,
        prepared_ms=(time.perf_counter() - began) * 1000,
        started_at=at,
        deadline_at=at + ANSWER_WITHIN,
        asked=asked,
        silent=silent,
        actor=actor.name,
        reason=reason,
    )


def _edges(product: Product, at: datetime) -> tuple[list[str], list[str]]:
    """The edges in service that are heard, and those that are not."""
    asked: list[str] = []
    silent: list[str] = []
    for edge in Edge.objects.filter(product=product, retired_at=None).select_related("seen"):
        seen = getattr(edge, "seen", None)
        is_heard = seen is not None and at - seen.at <= SILENT_AFTER
        (asked if is_heard else silent).append(edge.name)
    return asked, silent


def _hint(drill: Drill) -> None:
    """Wake the edges at commit, over the channel that wakes them for a publication."""
    with connection.cursor() as cursor:
        said = f"drill:{drill.pk}:{drill.product.slug}"
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, said])


def _audited(actor: Actor, drill: Drill) -> None:
    record(
        actor,
        "rollback.drill",
        product=drill.product.slug,
        obj=("drill", drill.pk),
        before=drill.publication.target_digest,
        after=drill.digest,
        reason=drill.reason,
        data={
            "publication": drill.publication.number,
            "asked": drill.asked,
            "silent": drill.silent,
        },
    )


def _clock() -> datetime:
    """The database's own clock, which also stamps the answers."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        at: datetime = cursor.fetchone()[0]
    return at
