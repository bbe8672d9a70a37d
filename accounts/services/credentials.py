"""Issue and revoke what machines show."""

import hashlib
import secrets
from collections.abc import Iterable
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.certificates import fingerprint_of, marked
from accounts.guard import Actor, Permission, require
from accounts.models import Credential, User
from accounts.roles import MACHINES, PERMISSIONS, Role
from accounts.services.audit import record
from controlplane.errors import BadInput, Conflict, NotFound


def token_hash(token: str) -> str:
    """Tokens carry 256 random bits, so a plain hash is as good as a slow one."""
    return hashlib.sha256(token.encode()).hexdigest()


def issue_credential(
    actor: Actor,
    *,
    kind: str,
    name: str,
    product_slug: str,
    owner: User,
    expires_at: datetime | None = None,
    scopes: Iterable[str] = (),
) -> tuple[Credential, str]:
    """A new credential and its token, which is shown this once and never again."""
    token = f"orc_{kind}_{secrets.token_urlsafe(32)}"
    prefix = token[: len(f"orc_{kind}_") + 4]
    credential = store_credential(
        actor,
        kind=kind,
        name=name,
        product_slug=product_slug,
        owner=owner,
        expires_at=expires_at,
        shown=token_hash(token),
        prefix=prefix,
        scopes=scopes,
    )
    return credential, token


@transaction.atomic
def store_credential(
    actor: Actor,
    *,
    kind: str,
    name: str,
    product_slug: str,
    owner: User,
    expires_at: datetime | None,
    shown: str,
    prefix: str,
    scopes: Iterable[str] = (),
) -> Credential:
    """A credential that is known by `shown`: a token's hash, or what stands for a certificate."""
    require(actor, Permission.ADMINISTER, product_slug)
    if kind not in MACHINES:
        raise BadInput("unknown_kind", f"A credential is one of {', '.join(MACHINES)}.")
    kept = _sound_scopes(kind, scopes)
    try:
        with transaction.atomic():
            credential = Credential.objects.create(
                scopes=kept,
                kind=kind,
                name=name,
                product_slug=product_slug,
                owner=owner,
                expires_at=expires_at,
                token_hash=shown,
                prefix=prefix,
            )
    except IntegrityError as error:
        raise Conflict(
            "credential_exists",
            f"{product_slug} has a live {kind} credential {name}; revoke it first.",
        ) from error
    record(
        actor,
        "credential.issued",
        product=product_slug,
        obj=("credential", credential.pk),
        data={"kind": kind, "name": name, "owner": owner.username, "prefix": prefix},
    )
    return credential


def store_certificate(
    actor: Actor, certificate: str, *, kind: str, name: str, product_slug: str, owner: User
) -> Credential:
    """A credential that is known by a certificate, given whole or as its SHA-256.

    It ends when it is revoked or replaced; whoever verifies it knows its own end. One certificate
    stands for one machine, for ever: a machine that was shut out can't come back as another.
    """
    require(actor, Permission.ADMINISTER, product_slug)
    fingerprint = fingerprint_of(certificate)
    if fingerprint is None:
        raise BadInput("bad_certificate", "Give the SHA-256 fingerprint of the certificate, or it.")
    known = Credential.objects.filter(token_hash=marked(fingerprint)).first()
    if known is not None:
        whom = known.name if known.product_slug == product_slug else "another machine"
        raise Conflict("certificate_known", f"It stood for {whom} before: give a newer one.")
    return store_credential(
        actor,
        kind=kind,
        name=name,
        product_slug=product_slug,
        owner=owner,
        expires_at=None,
        shown=marked(fingerprint),
        prefix=f"cert {fingerprint[:8]}",
    )


def _sound_scopes(kind: str, scopes: Iterable[str]) -> list[str]:
    """In one order; raises BadInput for what its kind may not do anyway."""
    wanted = sorted(set(scopes))
    # An edge and a sender of traces have one purpose each, and doors that know no smaller one.
    possible = PERMISSIONS[kind] if kind == Role.CI else frozenset()
    if beyond := [one for one in wanted if one not in possible]:
        raise BadInput("unknown_scope", f"A token of this kind can't be cut to {beyond[0]}.")
    return wanted


@transaction.atomic
def revoke_credential(
    actor: Actor, credential_id: int, reason: str, product_slug: str
) -> Credential:
    """End a credential of the product at once; doing it twice changes nothing."""
    require(actor, Permission.ADMINISTER, product_slug)
    rows = Credential.objects.select_for_update()
    credential = rows.filter(pk=credential_id, product_slug=product_slug).first()
    if credential is None:
        raise NotFound("not_found", f"{product_slug} has no such credential.")
    if credential.revoked_at is None:
        credential.revoked_at = timezone.now()
        credential.save(update_fields=["revoked_at"])
        record(
            actor,
            "credential.revoked",
            product=credential.product_slug,
            obj=("credential", credential.pk),
            reason=reason,
            data={"name": credential.name},
        )
    return credential
