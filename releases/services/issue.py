"""Take the next admission generation number of a product and sign what it serves."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import F
from msgspec import UNSET, UnsetType

from orchid.engine.document.operation import Stage
from orchid.engine.wire.bundle import (
    Bundle,
    BundleVote,
    Exposure,
    Generation,
    Generations,
    SegmentExposure,
    etag_of,
    sign,
)
from orchid.engine.wire.contents import EarlyStage, Kind
from policies.models import Product
from policies.selectors import document_of, revision_by_digest
from releases.keys import signing_keys
from releases.models import Publication, Vote
from releases.services.channel import CHANNEL
from releases.services.pools import pools_for
from releases.services.slices import slices_of
from releases.states import DECIDED_PROPOSALS, Choice, PublicationKind

WIRE_KINDS: dict[PublicationKind, Kind] = {
    PublicationKind.PUBLISH: "publish",
    PublicationKind.ADVANCE: "advance",
    PublicationKind.PAUSE: "pause",
    PublicationKind.RESUME: "resume",
    PublicationKind.ROLLBACK: "rollback",
    PublicationKind.PRICE_CHANGE: "price_change",
    PublicationKind.EMERGENCY: "emergency",
}
ACCEPTED_FOR = timedelta(days=30)  # how long an edge that was away may still take this bundle


@dataclass(frozen=True)
class Serving:
    """What a publication is to serve: the incumbent, and a candidate at a stage's fraction."""

    incumbent: str
    candidate: str | None = None
    fraction: float = 0.0
    stage: int = 0
    by_segment: tuple[Mapping[str, Any], ...] = ()
    """Segments at another fraction than the rest; the form is `Publication.by_segment`'s."""

    @property
    def digests(self) -> tuple[str, ...]:
        """The content that edges need at hand, the incumbent first."""
        return (self.incumbent, *([self.candidate] if self.candidate else []))


def latest(product: Product) -> Publication | None:
    """The publication that every edge is wanted on."""
    return Publication.objects.filter(product=product).order_by("-number").first()


def issue(
    product: Product,
    kind: PublicationKind,
    serving: Serving,
    *,
    actor: str,
    reason: str,
    now: datetime,
    votes: Sequence[Vote] = (),
    previous: Publication | None = None,
) -> Publication:
    """Write and announce the next publication. The caller holds the product's lock.

    The number follows the last one that was committed, so an aborted move leaves no gap; whoever
    has read that one under the same lock gives it as `previous`.
    """
    previous = previous or latest(product)
    number = previous.number + 1 if previous else 1
    pools = pools_for(product, serving.digests, previous, now)
    bundle = bundle_for(
        product,
        kind,
        serving,
        number=number,
        previous=previous.number if previous else None,
        pools=pools,
        now=now,
        votes=votes,
    )
    publication = Publication.objects.create(
        product=product,
        number=number,
        kind=kind,
        incumbent_digest=serving.incumbent,
        candidate_digest=serving.candidate,
        fraction=serving.fraction,
        stage=serving.stage,
        by_segment=list(serving.by_segment),
        pools=pools,
        published_at=now,
        actor=actor,
        reason=reason,
        **signed(bundle),
    )
    announce(publication)
    return publication


def bundle_for(
    product: Product,
    kind: PublicationKind,
    serving: Serving,
    *,
    number: int,
    previous: int | None,
    pools: dict[str, str],
    now: datetime,
    votes: Sequence[Vote] = (),
) -> Bundle:
    """What edges are told by the publication of this number."""
    return Bundle(
        product=product.slug,
        publication=number,
        previous=previous,
        kind=WIRE_KINDS[kind],
        issued_at=now,
        not_before=now,
        expires_at=now + ACCEPTED_FOR,
        generations=_generations(product, serving),
        exposure=_exposure(product, serving),
        pools=pools,
        votes=(*map(_carried, votes), *_earlier_votes(product, serving, votes)),
        next_keys={key.kid: key.jwk for key in signing_keys()[1:]},
        slices=slices_of(product),
    )


def signed(bundle: Bundle) -> dict[str, Any]:
    """The columns of a signed bundle."""
    key = signing_keys()[0]
    token = sign(bundle, key.pem, key.kid)
    return {
        "token": token,
        "etag": etag_of(token),
        "kid": key.kid,
        "issued_at": bundle.issued_at,
        "expires_at": bundle.expires_at,
    }


def announce(publication: Publication) -> None:
    """Wake the edges' long polls at commit; the hint is a number, the bundle is pulled."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_notify(%s, %s)", [CHANNEL, str(publication.pk)])


def _generations(product: Product, serving: Serving) -> Generations:
    candidate = _generation(product, serving.candidate) if serving.candidate else None
    return Generations(_generation(product, serving.incumbent), candidate)


@lru_cache(maxsize=32)
def _generation(product: Product, digest: str) -> Generation:
    """A digest names one content for ever, and the same few are signed again and again."""
    return Generation(digest, revision_by_digest(product, digest).document)


def _exposure(product: Product, serving: Serving) -> Exposure | None:
    """How units are split. The salt is the candidate's digest: no stage of it moves a unit."""
    if serving.candidate is None:
        return None
    rollout = document_of(serving.candidate).rollout
    return Exposure(
        serving.stage,
        serving.fraction,
        serving.candidate,
        rollout.strata,
        rollout.unit,
        by_segment=tuple(map(_segment, serving.by_segment)) or UNSET,
        kind=_asked_of_edges(rollout.stages[serving.stage]),
    )


def _segment(apart: Mapping[str, Any]) -> SegmentExposure:
    where = {name: tuple(values) for name, values in apart["where"].items()}
    return SegmentExposure(where, apart["fraction"])


def _asked_of_edges(stage: Stage) -> EarlyStage | UnsetType:
    """What edges do with a candidate that answers nobody; absent where the fraction tells all."""
    return stage.kind if stage.kind in ("shadow", "hard_limits") else UNSET


def _earlier_votes(
    product: Product, serving: Serving, now_cast: Sequence[Vote]
) -> Iterator[BundleVote]:
    """The approvals under which what is served was published: they travel with it for good."""
    stored = Vote.objects.filter(
        proposal__product=product,
        proposal__revision_digest__in=serving.digests,
        proposal__state__in=DECIDED_PROPOSALS,
        round=F("proposal__round"),
        content_digest=F("proposal__revision_digest"),
        decision=Choice.APPROVE,
        void=False,
    )
    earlier = stored.exclude(pk__in=[vote.pk for vote in now_cast])
    for row in earlier.values_list("user__username", "role", "proposal__revision_digest", "at"):
        yield BundleVote(*row)


def _carried(vote: Vote) -> BundleVote:
    return BundleVote(
        by=vote.user.get_username(),
        role=vote.role,
        digest=vote.content_digest,
        at=vote.at,
    )
