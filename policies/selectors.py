"""Reads that pages, the API, tasks and the rooms above share."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db.models import Count, Max, OuterRef, QuerySet, Subquery

from accounts.roles import EVERY_PRODUCT
from controlplane.errors import NotFound
from orchid.engine.document import consistency
from orchid.engine.document.difference import Change, changes, required_approvals
from orchid.engine.document.findings import Finding
from orchid.engine.document.load import load_document
from orchid.engine.document.model import PolicyDocument
from policies.models import Generation, Product, Revision


def products(slugs: Collection[str]) -> QuerySet[Product]:
    """The products among these slugs; `*` stands for all."""
    found = Product.objects.order_by("name")
    return found if EVERY_PRODUCT in slugs else found.filter(slug__in=slugs)


def product(slug: str) -> Product:
    """Raises NotFound, which is also what someone without a role gets."""
    found = Product.objects.filter(slug=slug).first()
    if found is None:
        raise NotFound("not_found", f"There is no product {slug}.")
    return found


def generations(of: Product) -> QuerySet[Generation]:
    """Newest first, with the number and digest of the latest revision."""
    latest = Revision.objects.filter(generation=OuterRef("pk")).order_by("-number")
    return of.generations.annotate(
        revision_count=Count("revisions"),
        latest_number=Max("revisions__number"),
        latest_digest=Subquery(latest.values("digest")[:1]),
    ).order_by("-number")


def generation(of: Product, number: int) -> Generation:
    found = of.generations.filter(number=number).select_related("product").first()
    if found is None:
        raise NotFound("not_found", f"{of.slug} has no generation {number}.")
    return found


def revision(of: Generation, number: int | None = None) -> Revision:
    """The numbered revision, or the latest."""
    wanted = of.revisions.select_related("generation__product", "base__generation")
    found = (wanted.filter(number=number) if number else wanted).order_by("-number").first()
    if found is None:
        raise NotFound("not_found", f"Generation {of.number} has no revision {number}.")
    return found


def revision_by_digest(of: Product, digest: str) -> Revision:
    """The first revision of the product with this content."""
    found = (
        Revision.objects.filter(digest=digest, generation__product=of)
        .select_related("generation__product")
        .order_by("id")
        .first()
    )
    if found is None:
        raise NotFound("unknown_digest", f"{of.slug} has no document {digest}.")
    return found


def given_of(digest: str) -> dict[str, Any]:
    """The stored keys of a document, by content alone."""
    given = Revision.objects.filter(digest=digest).values_list("document", flat=True).first()
    if given is None:
        raise NotFound("unknown_digest", f"No document has the digest {digest}.")
    return dict(given)


@lru_cache(maxsize=256)
def document_of(digest: str) -> PolicyDocument:
    """The typed document. A digest names one content for ever, so the answer may be kept."""
    return load_document(given_of(digest)).document


def difference(base_digest: str, digest: str) -> list[Change]:
    """What changed between two documents, in words and by category."""
    return list(_difference(base_digest, digest))


@lru_cache(maxsize=256)  # a submission asks for it, and the publication again
def _difference(base_digest: str, digest: str) -> tuple[Change, ...]:
    return tuple(changes(given_of(base_digest), given_of(digest)))


@dataclass(frozen=True)
class Comparison:
    """Two revisions side by side; the categories touched decide who must approve."""

    before: Revision
    after: Revision
    changes: list[Change]
    required_approvals: dict[str, int]

    @property
    def base_digest(self) -> str:
        return self.before.digest

    @property
    def digest(self) -> str:
        return self.after.digest


def compared(before: Revision, after: Revision) -> Comparison:
    found = changes(before.document, after.document)
    required = required_approvals(document_of(before.digest), found)
    return Comparison(before, after, found, dict(required))


def findings(of: Revision) -> list[Finding]:
    """What the stored document's own checks say, errors first."""
    return findings_of(document_of(of.digest))


def findings_of(document: PolicyDocument) -> list[Finding]:
    return sorted(consistency.find(document), key=lambda finding: finding.severity != "error")
