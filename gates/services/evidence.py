"""Quality evidence comes in: in sets, whole or not at all, addressed by its content, immutable.

What came before is never changed and never removed: a later push supersedes it by being later
(`orchid.engine.verdict.evidence.in_force`), and what a vote or a verdict rested on stays.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import rfc8785
from django.db import connection, transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, require
from accounts.services import record
from controlplane.errors import BadInput
from gates.models import Evidence, EvidencePush
from gates.services.asking import ask_product
from gates.services.evidence_schema import EvidenceItem, invalid, parsed_set
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.segments import where_key
from policies.models import Product
from policies.selectors import document_of, revision_by_digest

#: How far a sender's clock may run ahead of ours.
SKEW = timedelta(minutes=5)


@dataclass(frozen=True)
class Piece:
    """One checked item with its manifest, its content in one spelling and that content's digest."""

    item: EvidenceItem
    manifest: str
    content: dict[str, Any]
    digest: str

    @property
    def where(self) -> dict[str, str | list[str]]:
        """The selector with the values of each dimension in order, so that equal ones are equal."""
        return {k: v if isinstance(v, str) else sorted(set(v)) for k, v in self.item.where.items()}

    @property
    def key(self) -> str:
        plain = {k: v if isinstance(v, str) else tuple(v) for k, v in self.where.items()}
        return where_key(plain)

    @property
    def cell(self) -> tuple[str, ...]:
        """What one set may measure once."""
        item = self.item
        return self.manifest, item.route, item.kind, item.suite, self.key, item.load_state or ""


@transaction.atomic
def push_evidence(
    actor: Actor, product: Product, payload: Mapping[str, Any]
) -> tuple[Evidence, bool]:
    """Store one piece of evidence; the same content again is the same row.

    Raises BadInput naming every wrong field, Forbidden without the permission.
    """
    (stored,) = push_evidence_set(actor, product, payload)
    return stored


@transaction.atomic
def push_evidence_set(
    actor: Actor, product: Product, payload: Mapping[str, Any]
) -> list[tuple[Evidence, bool]]:
    """Store a set or a single piece, all of it or nothing; each row, and whether it is new.

    A set that brings nothing new changes nothing. Raises BadInput naming every wrong field,
    Forbidden without the permission.
    """
    require(actor, Permission.EVIDENCE_PUSH, product.slug)
    pieces = _pieces(product, parsed_set(payload, product.slug))
    _one_at_a_time(product)
    known = set(_rows(product, pieces))
    new = [piece for piece in pieces if piece.digest not in known]
    if new:
        _store(actor, product, pieces, new)
    rows, fresh = _rows(product, pieces), {piece.digest for piece in new}
    return [(rows[piece.digest], piece.digest in fresh) for piece in pieces]


def _pieces(product: Product, items: Iterable[EvidenceItem]) -> list[Piece]:
    pieces = [_piece(product, item) for item in items]
    places: dict[tuple[str, ...], int] = {}
    faults = []
    for place, piece in enumerate(pieces):
        first = places.setdefault(piece.cell, place)
        if first != place:
            said = f"measures what /items/{first} measures: one suite, one cell, once in a set"
            faults.append({"pointer": f"/items/{place}", "text": said})
    if faults:
        raise invalid(faults)
    return pieces


def _piece(product: Product, item: EvidenceItem) -> Piece:
    if item.measured_at and item.measured_at > timezone.now() + SKEW:
        raise invalid([{"pointer": "/measured_at", "text": "lies in the future"}])
    manifest = item.manifest or _manifest_of(product, item)
    content = item.model_dump(mode="json", by_alias=True, exclude_unset=True)
    content["manifest"] = manifest
    return Piece(item, manifest, content, _digest(_canonical(content)))


def _one_at_a_time(product: Product) -> None:
    """Pushes of a product wait for each other, so that none counts another's rows as its own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(hashtext('gates_evidence'), %s)", [product.pk % 2**31]
        )


def _rows(product: Product, pieces: Iterable[Piece]) -> dict[str, Evidence]:
    digests = [piece.digest for piece in pieces]
    found = Evidence.objects.filter(product=product, digest__in=digests)
    return {row.digest: row for row in found.defer("content", "scores")}


def _store(actor: Actor, product: Product, pieces: list[Piece], new: list[Piece]) -> None:
    digest = _digest("\n".join(sorted(piece.digest for piece in pieces)).encode())
    push = EvidencePush.objects.create(
        product=product, digest=digest, items=len(pieces), new=len(new), pushed_by=actor.name
    )
    Evidence.objects.bulk_create(_row(push, piece) for piece in new)
    record(
        actor,
        "evidence.pushed",
        product=product.slug,
        obj=("evidence_push", push.pk),
        after=digest,
        data={
            "items": len(pieces),
            "new": len(new),
            "suites": sorted({f"{p.item.suite} {p.item.suite_version}" for p in new}),
            "routes": sorted({piece.item.route for piece in new}),
        },
    )
    # New evidence can change a verdict although no request came in.
    ask_product(product)


def _row(push: EvidencePush, piece: Piece) -> Evidence:
    item = piece.item
    mean, spread = item.score
    return Evidence(
        product=push.product,
        push=push,
        digest=piece.digest,
        kind=item.kind,
        suite=item.suite,
        suite_version=item.suite_version,
        index_version=item.index_version or "",
        prompt_version=item.prompt_version or "",
        route=item.route,
        manifest=piece.manifest,
        where=piece.where,
        key=piece.key,
        load_state=item.load_state or "",
        n=item.n,
        mean=mean,
        spread=spread,
        scores=item.scores,
        violations=item.violations,
        measured_at=item.measured_at,
        content=piece.content,
        pushed_by=push.pushed_by,
    )


def _canonical(content: dict[str, Any]) -> bytes:
    """RFC 8785 bytes; BadInput for a number that other readers of JSON could not keep exactly."""
    try:
        return rfc8785.dumps(content)
    except (rfc8785.CanonicalizationError, RecursionError) as error:
        raise invalid([{"pointer": "/", "text": f"no canonical form: {error}"}]) from error


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _manifest_of(product: Product, item: EvidenceItem) -> str:
    """The manifest of the named generation's route, for senders that know only the generation."""
    if item.digest is None:
        raise BadInput("manifest_missing", "Evidence names a manifest, or a generation's digest.")
    revision = revision_by_digest(product, item.digest)
    model = document_of(revision.digest).models.get(item.route)
    if model is None:
        raise BadInput("unknown_route", f"That generation has no route {item.route}.")
    return manifest_digest(model)
