"""The pools of replicas that a publication names, and what keeps one of them warm."""

from collections.abc import Collection

from policies.models import Product
from policies.selectors import document_of
from releases.models import Publication
from releases.selectors.edges import open_sequences


def pools_for(
    product: Product, served: Collection[str], previous: Publication | None
) -> dict[str, str]:
    """Pools by digest: what is served, and what still runs or was served until now."""
    return {**_warm(product, previous), **{digest: pool_of(digest) for digest in served}}


def pool_of(digest: str) -> str:
    """The pool of replicas that a generation runs on; a document that names none has its own."""
    document = document_of(digest)
    return document.fleet.pool or document.product


def _warm(product: Product, previous: Publication | None) -> dict[str, str]:
    """Pools that have to drain, so that sequences end under the manifest they began with."""
    if previous is None:
        return {}
    until_now = {previous.incumbent_digest, previous.candidate_digest}
    owed = {digest for digest, count in open_sequences(product).items() if count}
    return {d: pool for d, pool in previous.pools.items() if d in until_now | owed}
