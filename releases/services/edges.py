"""Who may be an edge: registered with a credential each, given new ones, revoked, retired."""

from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.models import Credential
from accounts.roles import Role
from accounts.services import issue_credential, record, revoke_credential
from accounts.services.credentials import store_certificate
from accounts.services.rotation import rotate_credential
from controlplane.errors import BadInput, Conflict
from policies.models import Product
from releases.models import Edge
from releases.selectors.holdings import LeftOpen, left_open

OVERLAP = timedelta(hours=24)
LARGEST_SHARE = 1_000_000.0


@transaction.atomic
def register_edge(
    actor: Actor, product: Product, name: str, certificate: str = ""
) -> tuple[Credential, str]:
    """A credential for one edge, and its token, shown this once; none for a certificate.

    The edge itself appears with its first call, so that none is waited for that was never started.
    """
    require(actor, Permission.ADMINISTER, product.slug)
    owner = actor.owner
    if owner is None:
        raise BadInput("owner_missing", "A person has to answer for an edge.")
    slug = product.slug
    if not certificate:
        return issue_credential(actor, kind=Role.EDGE, name=name, product_slug=slug, owner=owner)
    made = store_certificate(
        actor, certificate, kind=Role.EDGE, name=name, product_slug=slug, owner=owner
    )
    return made, ""


@transaction.atomic
def rotate_edge(
    actor: Actor,
    edge: Edge,
    reason: str,
    *,
    credential_id: int,
    overlap: timedelta = OVERLAP,
    certificate: str = "",
) -> tuple[Credential, str]:
    """A new token, or the next certificate, for an edge that goes on.

    The old one counts until the overlap is over, so that there is no moment without either.
    `credential_id` is the one that is to be replaced: asked twice, the second is refused, so that
    no retry can end the token that the edge still uses.
    """
    require(actor, Permission.ADMINISTER, edge.product.slug)
    edge = _locked(edge)
    older = edge.credential
    if older.pk != credential_id:
        raise Conflict("credential_over", f"{edge.name} has a newer credential by now.")
    return rotate_credential(actor, older.pk, edge.product.slug, overlap, reason, certificate)


@transaction.atomic
def revoke_edge(actor: Actor, edge: Edge, reason: str) -> None:
    """End every credential of the edge at once: its streams too. It is still waited for.

    What it holds is never lost by that: an edge that can't tell keeps the ledger open.
    """
    require(actor, Permission.ADMINISTER, edge.product.slug)
    edge = _locked(edge)
    left = left_open(edge, timezone.now())
    _revoke(actor, edge, reason)
    _record(actor, "edge.revoked", edge, reason, {"left_open": left.sequences if left else {}})


@transaction.atomic
def retire_edge(actor: Actor, edge: Edge, reason: str, *, abandon: bool = False) -> Edge:
    """Take an edge out of service: no clock waits for it, and it may not come back by itself.

    409 `sequences_open` while it holds sequences, or may hold some that it hasn't told of; with
    `abandon` it goes all the same, and what it may have held is noted and never called none.
    """
    require(actor, Permission.ADMINISTER, edge.product.slug)
    edge = _locked(edge)
    left = left_open(edge, timezone.now())
    if left is not None and not abandon:
        raise _still_open(left)
    _revoke(actor, edge, reason)
    edge.retired_at, edge.abandoned = timezone.now(), left.sequences if left else {}
    edge.save(update_fields=["retired_at", "abandoned"])
    _record(actor, "edge.retired", edge, reason, {"abandoned": edge.abandoned})
    return edge


@transaction.atomic
def declare_share(actor: Actor, edge: Edge, share: float, reason: str) -> None:
    """The weight of an edge's traffic where none of it was measured."""
    require(actor, Permission.ADMINISTER, edge.product.slug)
    if not 0.0 <= share <= LARGEST_SHARE:
        raise BadInput("bad_share", f"A share is a weight from 0 to {LARGEST_SHARE:g}.")
    edge = _locked(edge)
    before, edge.share = edge.share, share
    edge.save(update_fields=["share"])
    _record(actor, "edge.share_declared", edge, reason, {"before": before, "after": share})


def _revoke(actor: Actor, edge: Edge, reason: str) -> None:
    for credential in filter(None, (edge.credential, edge.former_credential)):
        revoke_credential(actor, credential.pk, reason, edge.product.slug)


def _still_open(left: LeftOpen) -> Conflict:
    rows = [{"digest": digest, "sequences": count} for digest, count in left.sequences.items()]
    said = (
        f"{left.words}. Wait until it has told that none is left, or abandon them: nobody will "
        "know how they ended."
    )
    return Conflict("sequences_open", said, errors=rows)


def _locked(edge: Edge) -> Edge:
    """The edge as it is now; one that was retired is over."""
    # Joined with a credential, a row whose credential was replaced meanwhile would not be found.
    found = Edge.objects.select_for_update().get(pk=edge.pk)
    if found.retired_at is not None:
        raise Conflict("edge_retired", f"{found.name} is retired. Register it again to use it.")
    return found


def _record(actor: Actor, action: str, edge: Edge, reason: str, data: dict[str, Any]) -> None:
    record(
        actor,
        action,
        product=edge.product.slug,
        obj=("edge", edge.name),
        reason=reason,
        data=data,
    )
