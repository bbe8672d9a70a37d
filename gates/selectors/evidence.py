"""Quality evidence: what is in force, what a document makes of it, one cell's history."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from controlplane.errors import BadInput, NotFound
from gates.models import Evidence
from gates.states import EvidenceKind
from orchid.engine.document.canonical import manifest_digest
from orchid.engine.document.model import PolicyDocument
from orchid.engine.verdict.evidence import Book, Item, Silence, in_force
from policies.models import Product

#: What a list of evidence can be narrowed by: each a column, with an exact value.
FILTERS = ("route", "manifest", "kind", "suite", "suite_version", "key", "load_state")
#: What an item is read from; the content, which may be large, is left where it is.
_COLUMNS = (
    "id",
    "digest",
    "kind",
    "suite",
    "suite_version",
    "index_version",
    "prompt_version",
    "route",
    "manifest",
    "where",
    "load_state",
    "n",
    "mean",
    "spread",
    "violations",
    "scores",
    "measured_at",
    "created_at",
    "push_id",
)


def last_runs(product: Product, manifests: Iterable[str] | None = None) -> QuerySet[Evidence]:
    """The last run of each measured cell, of every manifest or of some; what no edition voids is
    in force (`orchid.engine.verdict.evidence.in_force`)."""
    found = Evidence.objects.filter(product=product)
    if manifests is not None:
        found = found.filter(manifest__in=set(manifests))
    return last_of(found)


def last_of(rows: QuerySet[Evidence]) -> QuerySet[Evidence]:
    """Of some evidence, the last run of each measured cell."""
    return rows.order_by("manifest", "cell", "-id").distinct("manifest", "cell")


def items_for(product: Product, manifests: Iterable[str] | None = None) -> list[Item]:
    """The last runs as the engine takes them, in no order that means anything."""
    return items_of(last_runs(product, manifests))


def items_of(rows: QuerySet[Evidence]) -> list[Item]:
    """Rows as the engine takes them."""
    return [item_of(row) for row in rows.values(*_COLUMNS)]


def item_of(row: Mapping[str, Any]) -> Item:
    """One row's columns as the engine takes them; rows from before sets are older than any."""
    where = {k: v if isinstance(v, str) else tuple(v) for k, v in row["where"].items()}
    return Item(
        digest=row["digest"],
        kind=row["kind"],
        suite=row["suite"],
        suite_version=row["suite_version"],
        route=row["route"],
        manifest=row["manifest"],
        where=where,
        n=row["n"],
        mean=row["mean"],
        spread=row["spread"],
        violations=row["violations"],
        measured_at=row["measured_at"] or row["created_at"],
        push=row["push_id"] or 0,
        load_state=row["load_state"],
        index_version=row["index_version"],
        prompt_version=row["prompt_version"],
        scores=tuple(row["scores"]) if row["scores"] is not None else None,
    )


def manifests_of(document: PolicyDocument) -> dict[str, str]:
    """The manifest of each route that the document pins."""
    return {route: manifest_digest(model) for route, model in document.models.items()}


def book_for(product: Product, document: PolicyDocument, at: datetime) -> Book:
    """The evidence on what a document pins, as it stands at a moment."""
    return Book(items_for(product, manifests_of(document).values()), document, at)


def evidence_digest(items: Iterable[Item]) -> str:
    """One digest over a set of evidence, in whatever order it was read."""
    text = "\n".join(sorted(item.digest for item in items))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def standings(product: Product, rows: Iterable[Evidence]) -> dict[int, str]:
    """Of these rows, those that something superseded, each with what it was, by id."""
    shown = list(rows)
    items = items_for(product, {row.manifest for row in shown})
    silent = {one.item.digest: one for one in in_force(items)[1]}
    last = {item.digest for item in items}
    found = {}
    for row in shown:
        if row.digest not in last:
            found[row.pk] = str(Silence.PUSH)
        elif one := silent.get(row.digest):
            found[row.pk] = f"superseded by {one.by.name}" if one.by else str(one.why)
    return found


def narrowed(product: Product, asked: Mapping[str, str]) -> QuerySet[Evidence]:
    """The product's evidence with these exact values, without its content; to be paged.

    Raises BadInput for a kind that is none.
    """
    chosen = {name: asked[name] for name in FILTERS if asked.get(name)}
    if "kind" in chosen and chosen["kind"] not in EvidenceKind.values:
        known = ", ".join(EvidenceKind.values)
        raise BadInput("unknown_kind", f"There is no kind {chosen['kind']}; there are {known}.")
    return Evidence.objects.filter(product=product, **chosen).defer("content", "scores")


def evidence_of(product: Product, pk: int) -> Evidence:
    """One piece with everything it declared; raises NotFound."""
    found = Evidence.objects.filter(product=product, pk=pk).select_related("push").first()
    if found is None:
        raise NotFound("not_found", f"{product.slug} has no evidence {pk}.")
    return found


def pks_of(product: Product, items: Iterable[Item]) -> dict[str, int]:
    """The rows of some items, by digest."""
    digests = {item.digest for item in items}
    found = Evidence.objects.filter(product=product, digest__in=digests)
    return dict(found.values_list("digest", "pk"))


def runs_of(evidence: Evidence) -> QuerySet[Evidence]:
    """Every run of the same suite on the same cell, to be paged newest first."""
    found = Evidence.objects.filter(
        product=evidence.product_id, manifest=evidence.manifest, cell=evidence.cell
    )
    return found.defer("content", "scores")
