"""Who may be an edge: registered with a credential each, given new ones, revoked, retired."""

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from accounts.certificates import fingerprint_of, marked
from accounts.guard import Actor, Permission, require
from accounts.models import Credential
from accounts.roles import Role
from accounts.services import issue_credential, record, revoke_credential
from accounts.services.credentials import store_credential
from accounts.services.rotation import rotate_credential
from controlplane.errors import BadInput, Conflict
from policies.models import Product
from releases.models import Edge

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
    fingerprint = fingerprint_of(certificate)
    if fingerprint is None:
        raise BadInput("bad_certificate", "Give the SHA-256 fingerprint of the certificate, or it.")
    credential = store_credential(
        actor,
        kind=Role.EDGE,
        name=name,
        product_slug=slug,
        owner=owner,
        expires_at=None,
        shown=marked(fingerprint),
        prefix=f"cert {fingerprint[:8]}",
    )
    return credential, ""


@transaction.atomic
def rotate_edge(
    actor: Actor,
    edge: Edge,
    reason: str,
    *,
    credential_id: int,
    overlap: timedelta = OVERLAP,
) -> tuple[Credential, str]:
    """A new token for an edge that goes on; the old one counts until the overlap is over.

    `credential_id` is the one that is to be replaced: asked twice, the second is refused, so that
    no retry can end the token that the edge still uses.
    """
    require(actor, Permission.ADMINISTER, edge.product.slug)
    edge = _locked(edge)
    older = edge.credential
    if older.pk != credential_id:
        raise Conflict("credential_over", f"{edge.name} has a newer credential by now.")
    newer, token = rotate_credential(actor, older.pk, edge.product.slug, overlap, reason)
    edge.credential, edge.former_credential = newer, older
    edge.save(update_fields=["credential", "former_credential"])
    return newer, token


@transaction.atomic
def revoke_edge(actor: Actor, edge: Edge, reason: str) -> None:
    """End every credential of the edge at once: its streams too. It is still waited for."""
    require(actor, Permission.ADMINISTER, edge.product.slug)
    edge = _locked(edge)
    for credential in filter(None, (edge.credential, edge.former_credential)):
        revoke_credential(actor, credential.pk, reason, edge.product.slug)


@transaction.atomic
def retire_edge(actor: Actor, edge: Edge, reason: str) -> None:
    """Take an edge out of service: no clock waits for it, and it may not come back by itself."""
    revoke_edge(actor, edge, reason)
    edge = _locked(edge)
    if edge.retired_at is None:
        edge.retired_at = timezone.now()
        edge.save(update_fields=["retired_at"])
        _record(actor, "edge.retired", edge, reason)


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


def _locked(edge: Edge) -> Edge:
    """The edge as it is now; one that was retired is over."""
    found = (
        Edge.objects.select_for_update(of=("self",))
        .select_related("product", "credential", "former_credential")
        .get(pk=edge.pk)
    )
    if found.retired_at is not None:
        raise Conflict("edge_retired", f"{found.name} is retired. Register it again to use it.")
    return found


def _record(
    actor: Actor, action: str, edge: Edge, reason: str, data: dict[str, float] | None = None
) -> None:
    record(
        actor,
        action,
        product=edge.product.slug,
        obj=("edge", edge.name),
        reason=reason,
        data=data or {},
    )
