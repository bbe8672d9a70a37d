"""What is live in a product, and what stands around it."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.utils import timezone

from policies.models import Product, Revision
from releases.models import Alarm, Proposal, Publication, Rollout, Vote
from releases.selectors.edges import EdgeFact, Standing, alarms, edge_facts
from releases.selectors.progress import Progress, progress
from releases.selectors.votes import votes_behind
from releases.services.issue import latest
from releases.states import OPEN_ROLLOUTS, WAITING_PROPOSALS


@dataclass(frozen=True)
class Serves:
    """One digest of a publication in words: its generation, its share, its pool."""

    digest: str
    generation: int | None
    title: str
    share: float
    pool: str


@dataclass(frozen=True)
class PublicationFact:
    """One line of the history: what was published and what it serves."""

    publication: Publication
    serves: list[Serves]
    votes: list[Vote]


@dataclass(frozen=True)
class RolloutFact:
    """A rollout with where it stands; `progress` only while it is open."""

    rollout: Rollout
    progress: Progress | None


@dataclass(frozen=True)
class Live:
    """The head of a product's overview."""

    current: PublicationFact | None
    edges: list[EdgeFact]
    alarms: list[Alarm]
    rollout: RolloutFact | None
    waiting: list[Proposal]

    @property
    def active_edges(self) -> int:
        return sum(edge.standing == Standing.ACTIVE for edge in self.edges)


def live(product: Product, now: datetime | None = None) -> Live:
    """What the overview shows."""
    now = now or timezone.now()
    current = latest(product)
    waiting = Proposal.objects.filter(product=product, state__in=WAITING_PROPOSALS)
    return Live(
        publication_fact(current) if current else None,
        edge_facts(product, current, now),
        alarms(product),
        open_rollout(product, now),
        list(waiting.select_related("generation")),
    )


def open_rollout(product: Product, now: datetime) -> RolloutFact | None:
    """The one rollout under way, if any."""
    found = _rollouts(product).filter(state__in=OPEN_ROLLOUTS).first()
    return RolloutFact(found, progress(found, now)) if found else None


def closed_rollouts(product: Product) -> list[Rollout]:
    """The last ended rollouts, newest first."""
    return list(_rollouts(product).exclude(state__in=OPEN_ROLLOUTS)[:20])


def publication_fact(publication: Publication) -> PublicationFact:
    """A publication with its digests in words and the votes that carried its candidate.

    An incumbent that a candidate has wholly replaced gets nothing new, so it isn't named; what it
    still has open stands under Reconciliation.
    """
    shares = {}
    if publication.incumbent_digest in publication.served:
        shares[publication.incumbent_digest] = 1.0 - publication.fraction
    if publication.candidate_digest:
        shares[publication.candidate_digest] = publication.fraction
    serves = [_serves(publication, digest, share) for digest, share in shares.items()]
    return PublicationFact(publication, serves, votes_behind([publication])[publication.pk])


def generation_of(product_id: int, digest: str) -> Revision | None:
    """The revision behind a digest."""
    found = Revision.objects.filter(generation__product=product_id, digest=digest)
    return found.select_related("generation").order_by("number").first()


def _rollouts(product: Product) -> QuerySet[Rollout]:
    return Rollout.objects.filter(product=product).select_related(
        "publication", "first", "proposal__generation", "product"
    )


def _serves(publication: Publication, digest: str, share: float) -> Serves:
    revision = generation_of(publication.product_id, digest)
    return Serves(
        digest,
        revision.generation.number if revision else None,
        revision.generation.title if revision else "",
        share,
        publication.pools.get(digest, ""),
    )
