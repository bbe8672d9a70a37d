"""What a rollback would bring back, and whether it is ready to be."""

from dataclasses import dataclass

from controlplane.errors import Conflict
from policies.models import Manifest, Product, Revision
from releases.models import Activation, Publication
from releases.selectors.live import generation_of
from releases.selectors.proven import target
from releases.services.issue import latest
from releases.services.pools import pool_of
from releases.states import ActivationState


@dataclass(frozen=True)
class Restorable:
    """The content of a rollback with the facts that tell whether it can serve at once."""

    current: Publication
    leaves: Revision | None
    revision: Revision
    pool: str
    pool_is_kept: bool
    served_last: Publication | None
    ran_on_edges: int
    manifests: list[Manifest]


def restorable(product: Product) -> tuple[Restorable | None, str]:
    """What “Roll back” would restore now, or why there is nothing to restore."""
    current = latest(product)
    if current is None:
        return None, "Nothing has been published yet."
    try:
        digest = target(product, current)
    except Conflict as refused:
        return None, refused.detail
    if digest is None:
        return (
            None,
            f"Publication {current.number} is itself the rollback; it is what is wanted now.",
        )
    revision = generation_of(product.pk, digest)
    if revision is None:
        return None, "The content of the earlier publication can't be found."
    return _facts(product, current, revision), ""


def _facts(product: Product, current: Publication, revision: Revision) -> Restorable:
    served = Publication.objects.filter(product=product, number__lt=current.number)
    last = served.filter(incumbent_digest=revision.digest) | served.filter(
        candidate_digest=revision.digest, fraction__gt=0
    )
    newest = last.order_by("-number").first()
    ran = Activation.objects.filter(publication=newest, state=ActivationState.ACTIVE)
    return Restorable(
        current=current,
        leaves=generation_of(product.pk, current.target_digest),
        revision=revision,
        pool=pool_of(revision.digest),
        # A pool stays in every bundle while it drains; leaving the bundle is what releases it.
        pool_is_kept=revision.digest in current.pools,
        served_last=newest,
        ran_on_edges=ran.count(),
        manifests=list(Manifest.objects.filter(revision=revision).order_by("model")),
    )
