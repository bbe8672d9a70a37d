"""What the next stage asks before it may be entered: a person, a warm pool, a full rehearsal."""

from collections.abc import Iterator

from accounts.guard import person, roles_of
from ingest.models import ServerChange
from ingest.selectors.servers import servers
from ingest.states import ServerState
from orchid.engine.document.operation import Stage
from policies.models import Product
from releases.models import Drill, StageApproval
from releases.selectors.progress.condition import Condition, Stand
from releases.selectors.progress.demand import PEAK, peak
from releases.services.pools import pool_of
from releases.states import DrillAnswerState

ROLES = {"sre": "an SRE", "product_owner": "a product owner", "engineer": "a platform engineer"}


def before(stand: Stand, stage: Stage) -> Iterator[Condition]:
    """Of the stage to be entered."""
    policy = stand.document.rollout
    if policy.warm_up and stage.fraction:
        yield warm(stand.product, stand.rollout.candidate_digest)
    if stage.fraction < 1.0:
        return
    if "peak" in policy.before_whole:
        yield peak(stand, stand.rollout.created_at, PEAK, "This rollout")
    if "cold_start" in policy.before_whole:
        yield _cold_start(stand)
    if "drill" in policy.before_whole:
        yield _drill(stand)


def approval(stand: Stand, segment: str, stage: Stage) -> Iterator[Condition]:
    """Of the stage that is left: the person whom its policy asks, on this publication.

    Asked of each `segment` apart, and ("") of the rest, by itself.
    """
    if stage.approval is None:
        return
    found = StageApproval.objects.filter(rollout=stand.rollout, publication=stand.publication)
    asked = f"approval by {ROLES[stage.approval]}"
    mine = [one for one in found.select_related("user") if segment in one.segments]
    given = [one for one in mine if _holds(one, stage, stand)]
    if not given:
        yield Condition("approval", False, f"It waits for {asked}.", "not given", asked)
    else:
        by = given[0].user.get_username()
        yield Condition("approval", True, f"{by} approved: {given[0].reason}", by, asked)


def _holds(one: StageApproval, stage: Stage, stand: Stand) -> bool:
    """Whether who approved in the role that is asked holds it still."""
    held = roles_of(person(one.user), stand.product.slug)
    return one.role == stage.approval and one.role in held


def warm(product: Product, digest: str) -> Condition:
    """Readiness is tried: a server is warm once an inference has proven what it holds."""
    pool = pool_of(digest)
    rows = [row for row in servers(product) if row.server.pool in ("", pool)]
    warm = [row for row in rows if row.manifest == "held"]
    now = f"{len(warm)} of {len(rows)} servers"
    said = f"{now} of pool {pool} have answered a probe with what is published."
    if not rows:
        said = f"No server of pool {pool} is registered, so none can be tried."
    return Condition("warm_up", bool(rows) and len(warm) == len(rows), said, now, "all warm")


def _cold_start(stand: Stand) -> Condition:
    """A server of the candidate's pool came up while this rollout was under way."""
    pool = pool_of(stand.rollout.candidate_digest)
    came = ServerChange.objects.filter(
        server__product=stand.product,
        server__pool__in=("", pool),
        state=ServerState.READY,
        at__gte=stand.rollout.created_at,
    )
    last = came.order_by("-at").select_related("server").first()
    if last is None:
        said = f"No server of pool {pool} has come up cold during this rollout."
        return Condition("cold_start", False, said, "none", "one server")
    said = f"{last.server} came up cold at {last.at:%Y-%m-%d %H:%M:%S} UTC."
    return Condition("cold_start", True, said, str(last.server), "one server")


def _drill(stand: Stand) -> Condition:
    """The way back was rehearsed since this rollout began, and every edge could have gone it."""
    drills = Drill.objects.filter(
        product=stand.product,
        digest=stand.publication.incumbent_digest,
        started_at__gte=stand.rollout.created_at,
    )
    last = drills.prefetch_related("answers").first()
    if last is None:
        said = "Rolling back has not been rehearsed during this rollout."
        return Condition("drill", False, said, "none", "every edge ready")
    ready = sum(answer.state == DrillAnswerState.READY for answer in last.answers.all())
    edges = len(last.asked) + len(last.silent)  # of one that wasn't heard nothing is known
    now = f"{ready} of {edges} edges"
    said = f"In the last rehearsal {now} could have rolled back."
    return Condition("drill", 0 < edges == ready, said, now, "every edge ready")
