"""Writes of the room: a product, a generation's first text, its next."""

import re
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from accounts.guard import Actor, Permission, require
from accounts.roles import EVERY_PRODUCT
from accounts.services import record
from controlplane.errors import BadInput, Conflict
from orchid.engine.document.load import LoadedDocument, load_document
from orchid.engine.document.touched import segments_touched
from policies import projections, starters
from policies.models import Generation, Product, Revision
from policies.reading import Given, read, stored_form

SLUG = re.compile(r"[a-z][a-z0-9-]{0,62}")
# Addresses under /products/ that are no product.
RESERVED = frozenset({"new"})


@transaction.atomic
def create_product(
    actor: Actor,
    slug: str,
    name: str,
    *,
    template: str | None = None,
    document: Given | None = None,
    description: str = "",
) -> Product:
    """A product with its first generation drafted, from a template or from a document."""
    require(actor, Permission.ADMINISTER, EVERY_PRODUCT)
    _check_names(slug, name)
    if (template is None) == (document is None):
        raise BadInput("template_or_document", "Give a template or a document, and not both.")
    given = starters.document(template, slug) if template is not None else document
    loaded = read(slug, given or {})
    try:
        with transaction.atomic():
            product = Product.objects.create(slug=slug, name=name, description=description)
    except IntegrityError as error:
        raise Conflict("product_exists", f"There is a product {slug} already.") from error
    record(actor, "product.created", product=slug, obj=("product", slug), data={"name": name})
    _draft(actor, product, loaded, "First generation", base=None)
    return product


@transaction.atomic
def draft_generation(
    actor: Actor, product: Product, document: Given, title: str, base: Revision | None = None
) -> Revision:
    """Take the product's next number and store the first text under it."""
    require(actor, Permission.PROPOSE, product.slug)
    if not title.strip():
        raise BadInput("title_missing", "A generation has a title that says what changes.")
    return _draft(actor, product, read(product.slug, document), title.strip(), base)


@transaction.atomic
def revise(
    actor: Actor, generation: Generation, document: Given, expected_revision: int
) -> Revision:
    """Store the next text of a generation. Equal content is the revision that is there already."""
    require(actor, Permission.PROPOSE, generation.product.slug)
    loaded = read(generation.product.slug, document)
    generation = Generation.objects.select_for_update(of=("self",)).get(pk=generation.pk)
    latest = generation.revisions.latest("number")
    if latest.number != expected_revision:
        raise Conflict(
            "stale_revision",
            f"Revision {latest.number} is the latest, yours began from {expected_revision}. "
            "Look at what changed and send yours again.",
        )
    if latest.digest == loaded.digest:
        return latest
    revision = _store(actor, generation, latest.number + 1, loaded, base=latest.base)
    _audited(actor, "generation.revised", revision, before=latest.digest)
    return revision


def _check_names(slug: str, name: str) -> None:
    if not SLUG.fullmatch(slug) or slug in RESERVED:
        raise BadInput(
            "bad_slug", "A short name has small letters, digits and hyphens, a letter first."
        )
    if not name.strip():
        raise BadInput("name_missing", "A product has a name.")


def _draft(
    actor: Actor, product: Product, loaded: LoadedDocument, title: str, base: Revision | None
) -> Revision:
    # The product's row is the lock under which its numbers are given out, each once.
    Product.objects.select_for_update().get(pk=product.pk)
    last = product.generations.aggregate(last=Max("number"))["last"] or 0
    generation = Generation.objects.create(
        product=product, number=last + 1, title=title, **_authorship(actor)
    )
    revision = _store(actor, generation, 1, loaded, base)
    _audited(actor, "generation.drafted", revision, before=base.digest if base else "")
    return revision


def _store(
    actor: Actor,
    generation: Generation,
    number: int,
    loaded: LoadedDocument,
    base: Revision | None,
) -> Revision:
    revision = Revision.objects.create(
        generation=generation,
        number=number,
        digest=loaded.digest,
        document=stored_form(loaded),
        base=base,
        **_authorship(actor),
    )
    projections.write(revision, loaded.document)
    return revision


def _authorship(actor: Actor) -> dict[str, Any]:
    return {
        "created_by": actor.name,
        "created_by_user": actor.user,
        "owner_user": actor.credential.owner if actor.credential else None,
    }


def _audited(actor: Actor, action: str, revision: Revision, before: str) -> None:
    generation = revision.generation
    record(
        actor,
        action,
        product=generation.product.slug,
        obj=("generation", generation.number),
        before=before,
        after=revision.digest,
        data={
            "title": generation.title,
            "revision": revision.number,
            "segments": _segments(revision),
        },
    )


def _segments(revision: Revision) -> list[str]:
    """What the text changes for some of the traffic, by which the trail can be searched."""
    before = load_document(revision.base.document).document if revision.base else None
    return segments_touched(before, load_document(revision.document).document)
