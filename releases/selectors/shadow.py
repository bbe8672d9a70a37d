"""How a candidate decided beside what was live: how often it agreed, and where it did not."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from controlplane.errors import NotFound
from ingest.selectors.shadow import shadow_counts, told
from ingest.states import ShadowCounted, ShadowMode
from policies.models import Product
from releases.models import Publication


@dataclass(frozen=True)
class Agreement:
    """The decisions of one publication in one mode, over all edges.

    `decisions` were made twice; `passed_over` were left out by the edges, by reason. `near` counts
    the disagreements close to a deadline, at a long context or at a budget.
    """

    mode: ShadowMode
    decisions: int
    by_kind: Mapping[ShadowCounted, int]
    near: Mapping[str, int]
    passed_over: Mapping[ShadowCounted, int]
    first_at: datetime | None
    last_at: datetime | None

    @property
    def disagreements(self) -> int:
        return self.decisions - self.by_kind.get(ShadowCounted.SAME, 0)

    @property
    def share(self) -> float | None:
        """The part that agrees; None where nothing was decided twice."""
        if not self.decisions:
            return None
        return self.by_kind.get(ShadowCounted.SAME, 0) / self.decisions

    @property
    def refused(self) -> int:
        """What the incumbent alone serves and the candidate, or its limits, refuse."""
        return self.by_kind.get(ShadowCounted.REFUSES, 0)

    @property
    def refused_share(self) -> float | None:
        return self.refused / self.decisions if self.decisions else None

    @property
    def left_out(self) -> int:
        return sum(self.passed_over.values())


def agreement(
    product: Product, publication: Publication, mode: ShadowMode = ShadowMode.SHADOW
) -> Agreement:
    """What edges told of a publication; HARD_LIMITS is about a stage at which limits hold."""
    found = shadow_counts(product, publication.number, mode)
    by_kind = {ShadowCounted(name): n for name, n in found.by_difference.items()}
    return Agreement(
        mode=mode,
        decisions=sum(by_kind.values()),
        by_kind=by_kind,
        near=found.near,
        passed_over={ShadowCounted(name): n for name, n in found.passed_over.items()},
        first_at=found.first_at,
        last_at=found.last_at,
    )


def publication_looked_at(product: Product, number: int | None) -> Publication | None:
    """The one that is asked for, else the newest that edges told of, else the newest."""
    publications = Publication.objects.filter(product=product)
    if number is not None:
        found = publications.filter(number=number).first()
        if found is None:
            raise NotFound("not_found", f"{product.slug} has no publication {number}.")
        return found
    known = [one.publication for one in told(product)[:1]]
    newest = publications.order_by("-number")
    return (newest.filter(number__in=known) if known else newest).first()


def mode_looked_at(product: Product, publication: Publication, asked: str) -> ShadowMode:
    """The one that is asked for, else what edges told of the publication, else shadow."""
    if asked:
        return ShadowMode(asked)
    modes = [one.mode for one in told(product) if one.publication == publication.number]
    return modes[0] if modes else ShadowMode.SHADOW
