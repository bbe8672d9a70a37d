"""The tick: what was decided and what edges and gates report are brought together by steps."""

import logging
from collections.abc import Callable
from datetime import datetime

from django.db import transaction

from accounts.guard import SYSTEM_ACTOR
from controlplane.errors import Conflict
from gates.models import Evaluation, Window
from gates.services import cite, close_window, go_live, open_window
from gates.states import Action
from policies.models import Product
from policies.selectors import document_of
from releases.models import Activation, Publication, Rollout
from releases.selectors.edges import acknowledgement
from releases.selectors.progress import Progress, harm_before, progress
from releases.services import decision_record, edge_watch, reconciliation, resign, waiting
from releases.services.accepted import Bounds, bounds_for
from releases.services.expectation import tell_clocks, tell_servers
from releases.services.issue import latest
from releases.services.rollback import roll_back
from releases.services.rollout import advance, complete, open_stage, pause
from releases.states import OPEN_ROLLOUTS, ActivationState, RolloutState

logger = logging.getLogger(__name__)


def reconcile(product_id: int, now: datetime) -> bool:
    """Take the steps that are due for one product; False where somebody else is deciding now.

    The product's lock is the lease: it ends with its holder, and a move that waits for it finds
    the state re-read. Running this twice, or in two workers, takes each step once.
    """
    with transaction.atomic():
        locked = Product.objects.select_for_update(no_key=True, skip_locked=True)
        product = locked.filter(pk=product_id).first()
        if product is None:
            return False
        _apart(product, lambda: waiting.step(product, now))
        publication = latest(product)
        if publication is not None:
            _apart(product, lambda: tell_servers(product, publication))
            _apart(product, lambda: tell_clocks(product))
            _apart(product, lambda: resign.step(product, publication, now))
            _apart(product, lambda: reconciliation.step(product, publication, now))
            _apart(product, lambda: edge_watch.step(product, publication, now))
            _apart(product, lambda: decision_record.step(product, now))
            _settle(product, publication, now)
        return True


def _apart(product: Product, step: Callable[[], object]) -> None:
    """A step by itself: the fault of one keeps neither another nor a rollback from its turn."""
    try:
        with transaction.atomic():
            step()
    except Exception:
        logger.exception("a step of product %s failed", product.pk)


def _settle(product: Product, publication: Publication, now: datetime) -> None:
    """Harm that was judged stops a stage first: a window that begins anew forgets it."""
    rollout = Rollout.objects.filter(product=product, state__in=OPEN_ROLLOUTS).first()
    if rollout is not None:
        _move(rollout, now)
    _open_windows(product, latest(product) or publication, now)


def _move(rollout: Rollout, now: datetime) -> None:
    step = _step if rollout.state == RolloutState.RUNNING else _watch
    try:
        step(rollout, progress(rollout, now), now)
    except Conflict as refused:
        logger.info("rollout %s stays where it is: %s", rollout.pk, refused.detail)


def _open_windows(product: Product, publication: Publication, now: datetime) -> None:
    """Judge a publication from the moment enough of the traffic ran it, and no longer the last.

    Its candidate is looked at for harm from its first activation on.
    """
    mine = list(Window.objects.filter(product=product, publication=publication.number))
    if mine and not any(window.is_ahead for window in mine):
        return
    required = document_of(publication.target_digest).rollout.acknowledged_share
    reached_at = acknowledgement(product, publication, required, now).reached_at
    if reached_at is None:
        if not mine:
            _open_ahead(publication)
        return
    before = Window.objects.filter(product=product, closes_at=None)
    for window in before.exclude(publication=publication.number):
        close_window(window, reached_at)
    for digest in publication.served:
        is_candidate = digest == publication.candidate_digest
        _open(publication, digest, reached_at, _hold_ms(publication) if is_candidate else None)


def _open_ahead(publication: Publication) -> None:
    """Whom an edge serves by the candidate is harmed whether or not the other edges run it."""
    active = Activation.objects.filter(publication=publication, state=ActivationState.ACTIVE)
    first, candidate = active.order_by("at").first(), publication.candidate_digest
    if first is not None and candidate is not None and candidate in publication.served:
        _open(publication, candidate, first.at, None)


def _open(publication: Publication, digest: str, at: datetime, hold_ms: int | None) -> None:
    is_candidate = digest == publication.candidate_digest
    open_window(
        publication.product,
        digest,
        publication.number,
        "candidate" if is_candidate else "incumbent",
        at,
        publication.fraction if is_candidate else 1.0 - publication.fraction,
        hold_ms,
        accepted=_accepted(publication) if is_candidate else None,
        by_segment=publication.by_segment,
    )


def _accepted(publication: Publication) -> Bounds:
    """What the approvers of the rollout that this publication is of have signed."""
    rollout = Rollout.objects.filter(publication=publication).select_related("proposal").first()
    return bounds_for(rollout, publication) if rollout else {}


def _hold_ms(publication: Publication) -> int:
    policy = document_of(publication.candidate_digest).rollout
    return policy.hold_of(policy.stages[publication.stage]) or 0


def _step(rollout: Rollout, found: Progress, now: datetime) -> None:
    """At most one step a tick: after an outage one stage is entered, and that freshly judged."""
    reached_at, harm = found.acknowledged.reached_at, _harm(rollout, found)
    if harm is not None:
        _stop(rollout, harm)
    elif rollout.stage_opened_at is None:
        if reached_at is not None:
            open_stage(rollout, reached_at)
    elif found.waits_for or found.by_hand:
        return
    elif found.is_last:
        complete(rollout, now)
        go_live(rollout.product, rollout.publication.number, now)
    else:
        advance(SYSTEM_ACTOR, rollout, expected_version=rollout.version, now=now)


def _watch(rollout: Rollout, found: Progress, now: datetime) -> None:
    """A pause keeps the candidate's traffic, so what goes back by policy goes back from it too."""
    harm = _harm(rollout, found)
    if harm is not None and harm.action == Action.ROLL_BACK:
        _stop(rollout, harm)


def _harm(rollout: Rollout, found: Progress) -> Evaluation | None:
    """The judgement that stops it: of its publication, else of one that it followed by itself."""
    if found.action in (Action.PAUSE, Action.ROLL_BACK):
        return found.evaluation
    return harm_before(rollout)


def _why(rollout: Rollout, evaluation: Evaluation) -> str:
    """The policy's reason, and the first figures that gave it one."""
    number = evaluation.window.publication
    whose = "this publication’s own requests"
    if number != rollout.publication.number:
        whose = f"the requests of publication {number} before it"
    return " ".join([f"On {whose} {evaluation.why}.", *evaluation.reasons[:3]])


def _stop(rollout: Rollout, harm: Evaluation) -> None:
    """Harm stops a stage at any moment; what was seen is kept for whoever asks why."""
    reason = _why(rollout, harm)
    cite(harm.pk)
    if harm.action == Action.ROLL_BACK:
        roll_back(SYSTEM_ACTOR, rollout.product, reason)
    else:
        pause(SYSTEM_ACTOR, rollout, reason, expected_version=rollout.version)
