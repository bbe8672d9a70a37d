"""What a rollback would bring back, and whether it is ready to be: facts as they are now."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.utils import timezone

from controlplane import figures
from controlplane.errors import Conflict, NotFound
from policies.models import Manifest, Product, Revision
from policies.selectors import document_of
from releases.models import Activation, PoolRelease, Publication
from releases.selectors.drill import DrillFact, last_drill
from releases.selectors.edges import SILENT_AFTER, EdgeFact, edge_facts
from releases.selectors.live import generation_of
from releases.selectors.pool_servers import PoolServers, servers_of
from releases.selectors.proven import target
from releases.services.issue import latest
from releases.services.pools import pool_of, released
from releases.states import ActivationState, Readiness

DRILL_LASTS = timedelta(days=7)


@dataclass(frozen=True)
class Check:
    """One fact that a rollback rests on. None of them is waited for."""

    name: str
    label: str
    state: Readiness
    text: str


@dataclass(frozen=True)
class Restorable:
    """The content of a rollback with the facts that tell whether it can serve at once."""

    current: Publication
    leaves: Revision | None
    revision: Revision
    pool: str
    served_last: Publication | None
    ran_on_edges: int
    manifests: list[Manifest]
    drill: DrillFact | None
    checks: list[Check] = field(default_factory=list)

    @property
    def readiness(self) -> Readiness:
        """The worst of the checks: what is not known is not ready."""
        states = {check.state for check in self.checks}
        return next(state for state in Readiness if state in states)


def restorable(
    product: Product, now: datetime | None = None, to: int | None = None
) -> tuple[Restorable | None, str]:
    """What “Roll back”, or a return to publication `to`, would restore now; or why it can't."""
    current = latest(product)
    if current is None:
        return None, "Nothing has been published yet."
    try:
        digest = target(product, current, to)
    except (Conflict, NotFound) as refused:
        return None, refused.detail
    if digest is None:
        what = "itself the rollback" if to is None else f"what publication {to} stood for"
        return None, f"Publication {current.number} is {what}; it is what is wanted now."
    revision = generation_of(product.pk, digest)
    if revision is None:
        return None, "The content of the earlier publication can't be found."
    return _facts(product, current, revision, now or timezone.now()), ""


def _facts(product: Product, current: Publication, revision: Revision, now: datetime) -> Restorable:
    digest, pool = revision.digest, pool_of(revision.digest)
    newest = _served_last(product, current, digest)
    ran = Activation.objects.filter(publication=newest, state=ActivationState.ACTIVE)
    servers = servers_of(product, pool, digest)
    drill = last_drill(product, now)
    return Restorable(
        current=current,
        leaves=generation_of(product.pk, current.target_digest),
        revision=revision,
        pool=pool,
        served_last=newest,
        ran_on_edges=ran.count(),
        manifests=list(Manifest.objects.filter(revision=revision).order_by("model")),
        drill=drill,
        checks=[
            _pool_check(pool, released(product, [digest]).get(digest), current, digest, servers),
            _manifest_check(servers),
            _edge_check(product, current, digest, now),
            _drill_check(drill, digest, now),
        ],
    )


def _served_last(product: Product, current: Publication, digest: str) -> Publication | None:
    served = Publication.objects.filter(product=product, number__lte=current.number)
    found = served.filter(incumbent_digest=digest, fraction__lt=1.0) | served.filter(
        candidate_digest=digest, fraction__gt=0
    )
    return found.order_by("-number").first()


def _pool_check(
    pool: str,
    release: PoolRelease | None,
    current: Publication,
    digest: str,
    servers: PoolServers,
) -> Check:
    if release is not None:
        text = f"{pool} was released by {release.actor}: it has to be started before it can serve."
        return Check("pool", "Its pool", Readiness.NOT_READY, text)
    if digest not in current.pools:
        text = f"Edges are not told of {pool}: what it needs is in what serves now."
        return Check("pool", "Its pool", servers.answering, f"{text} {servers.words}")
    text = f"{pool} is kept warm for it and named to every edge. {servers.words}"
    return Check("pool", "Its pool", servers.answering, text)


def _manifest_check(servers: PoolServers) -> Check:
    return Check("manifests", "Its manifests", servers.holding, servers.manifest_words)


def _edge_check(product: Product, current: Publication, digest: str, now: datetime) -> Check:
    """Whether those who would be told are heard, against the share that starts a clock."""
    facts = edge_facts(product, current, now)
    silent = [fact for fact in facts if not _is_heard(fact, now)]
    if not facts:
        text = "No edge has registered: nobody would hear of it."
        return Check("edges", "The edges", Readiness.NOT_READY, text)
    total = sum(fact.share for fact in facts) or 1.0
    heard = 1.0 - sum(fact.share for fact in silent) / total
    names = f"; silent: {', '.join(fact.name for fact in silent)}" if silent else ""
    required = document_of(digest).rollout.acknowledged_share
    share = figures.share(heard, 0, required)
    text = f"{len(facts) - len(silent)} of {len(facts)} are heard, {share} of traffic{names}."
    state = Readiness.READY if heard >= required - 1e-9 else Readiness.NOT_READY
    return Check("edges", "The edges", state, text)


def _is_heard(fact: EdgeFact, now: datetime) -> bool:
    return fact.last_seen is not None and now - fact.last_seen <= SILENT_AFTER


def _drill_check(drill: DrillFact | None, digest: str, now: datetime) -> Check:
    name, label = "drill", "The last drill"
    if drill is None:
        return Check(name, label, Readiness.UNKNOWN, "It was never rehearsed.")
    if drill.refused:
        said = "; ".join(f"{line.edge}: {line.words}" for line in drill.refused)
        return Check(name, label, Readiness.NOT_READY, said)
    if drill.unanswered:
        waited = ", ".join(line.edge for line in drill.unanswered)
        return Check(name, label, Readiness.UNKNOWN, f"No answer from {waited}.")
    text = (
        f"{len(drill.lines)} edge{'s' if len(drill.lines) > 1 else ''} could have activated it "
        f"{drill.took_ms:,.0f} ms after the click."
    )
    if drill.digest != digest:
        return Check(name, label, Readiness.UNKNOWN, f"{text} That was for other content.")
    if now - drill.at > DRILL_LASTS:
        return Check(name, label, Readiness.UNKNOWN, f"{text} That is over a week ago.")
    return Check(name, label, Readiness.READY, text)
