"""Override an inconclusive stage: one person asks with a reason, a second one stands behind it.

It speaks of one judgement of one stage. It goes on speaking while the judgements that follow say
the same of every gate, because figures that merely grow change none of what the two people read;
as soon as any verdict says otherwise, the next inconclusive one has to be asked for again.
"""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.guard import Actor, Permission, may, person, require
from accounts.models import User
from accounts.services import record
from controlplane.errors import BadInput, Conflict, Forbidden
from gates.models import Evaluation, Watch
from gates.selectors import window_for
from gates.services import cite
from gates.states import VerdictState
from releases.lifecycle import Change, Move, land, lock_product
from releases.models import Contributor, Override, Rollout
from releases.states import OPEN_ROLLOUTS, OverrideState


def ask(
    actor: Actor, rollout: Rollout, evaluation_id: int, reason: str, now: datetime | None = None
) -> Override:
    """Ask that a stage go on although its judgement is inconclusive; it then waits for a second.

    `evaluation_id` is what the person had on the page. 409 `override_stale` where another judgement
    holds by now, `not_overridable` where it is anything but inconclusive on attributable evidence.
    """
    user = _person(actor)
    slug = rollout.product.slug
    with transaction.atomic():
        lock_product(rollout.product_id)
        require(actor, Permission.OVERRIDE, slug)
        fresh = Rollout.objects.select_related("product", "publication").get(pk=rollout.pk)
        _refuse(fresh, judged_now(fresh), evaluation_id)
        if not reason.strip():
            raise BadInput("reason_missing", "Say why the stage may go on without a pass.")
        override = _create(fresh, user, evaluation_id, reason.strip(), now or timezone.now())
        cite(evaluation_id)
        record(
            actor,
            "override.asked",
            product=slug,
            obj=("override", override.pk),
            after=fresh.candidate_digest,
            reason=override.reason,
            data=_about(override),
        )
    return override


def confirm(
    actor: Actor,
    override: Override,
    *,
    expected_version: int | None = None,
    now: datetime | None = None,
) -> Override:
    """Stand behind somebody else's override; from here on the stage may go on by it.

    403 `own_override` for who asked, `own_proposal` for who had a hand in the proposal; 409
    `override_stale` where the judgement that it was asked for no longer holds, or who asked may
    not override any more.
    """
    user = _person(actor)
    at = now or timezone.now()
    return land(
        override,
        Move.CONFIRM,
        actor,
        lambda row: _confirmed(row, user, at),
        expected_version=expected_version,
    )


def in_force(rollout: Rollout, evaluation: Evaluation | None) -> Override | None:
    """The confirmed override that speaks of this judgement of the rollout's present stage.

    It rests on two people, so it ends as soon as either of them may not override here any more.
    """
    if evaluation is None or evaluation.verdict != VerdictState.INCONCLUSIVE:
        return None
    found = Override.objects.filter(
        rollout=rollout,
        publication=rollout.publication.number,
        stage_index=rollout.stage_index,
        state=OverrideState.CONFIRMED,
    )
    rows = found.select_related("evaluation", "asked_by", "confirmed_by", "product")
    return next((row for row in rows if speaks_of(row, evaluation) and not gone(row)), None)


def gone(override: Override) -> list[str]:
    """Who of those behind an override may not override here any more."""
    behind = [override.asked_by, *filter(None, [override.confirmed_by])]
    slug = override.product.slug
    return [
        user.get_username() for user in behind if not may(person(user), Permission.OVERRIDE, slug)
    ]


def speaks_of(override: Override, evaluation: Evaluation) -> bool:
    """Whether an override covers a judgement: its own, or a later one that says the same of every
    gate, as have all between them."""
    own = override.evaluation
    if own.pk == evaluation.pk:
        return True
    if own.window_id != evaluation.window_id or own.pk > evaluation.pk:
        return False
    since = Evaluation.objects.filter(window_id=own.window_id, pk__gt=own.pk, changed=True)
    return not since.filter(pk__lte=evaluation.pk).exists()


def judged_now(rollout: Rollout) -> Evaluation | None:
    """The judgement that holds of the rollout's present stage."""
    window = window_for(rollout.product, rollout.publication.number, "candidate")
    watch = Watch.objects.filter(window=window).select_related("evaluation").first()
    return watch.evaluation if watch else None


def why_not(rollout: Rollout, evaluation: Evaluation | None) -> str:
    """Why a judgement can't be overridden, in words; empty where it can."""
    if rollout.state not in OPEN_ROLLOUTS:
        return f"The rollout is {rollout.status.label.lower()}."
    if evaluation is None:
        return "The stage has not been judged."
    if evaluation.window.is_ahead:
        return (
            "Too few edges run the stage for its hold to begin; until then nothing lets it go on."
        )
    if evaluation.verdict != VerdictState.INCONCLUSIVE:
        said = VerdictState(evaluation.verdict).label.lower()
        return f"The verdict is {said}; only an inconclusive one can be overridden."
    if not evaluation.validity.get("attribution", True):
        return "Whose figures these are is not certain; no override makes them so."
    return ""


def _refuse(rollout: Rollout, holds: Evaluation | None, evaluation_id: int) -> None:
    why = why_not(rollout, holds)
    if why:
        raise Conflict("not_overridable", why)
    if holds is None or holds.pk != evaluation_id:
        raise Conflict(
            "override_stale",
            f"Judgement {holds.pk if holds else 'none'} holds now, you looked at {evaluation_id}. "
            "Look at the stage again before you ask.",
        )


def _create(
    rollout: Rollout, user: User, evaluation_id: int, reason: str, at: datetime
) -> Override:
    try:
        with transaction.atomic():
            return Override.objects.create(
                product=rollout.product,
                rollout=rollout,
                stage_index=rollout.stage_index,
                publication=rollout.publication.number,
                evaluation_id=evaluation_id,
                asked_by=user,
                asked_at=at,
                reason=reason,
            )
    except IntegrityError as error:
        raise Conflict("already_asked", "This judgement’s override has been asked for.") from error


def _confirmed(row: Override, user: User, at: datetime) -> Change:
    _refuse_hand(row, user)
    rollout = row.rollout
    holds = judged_now(rollout)
    why = why_not(rollout, holds)
    moved_on = (rollout.publication.number, rollout.stage_index) != (
        row.publication,
        row.stage_index,
    )
    if left := gone(row):
        why = f"{left[0]} may not override here any more."
    if why or moved_on or holds is None or not speaks_of(row, holds):
        raise Conflict(
            "override_stale",
            f"{why or 'The stage says something else by now.'} The override lapses; "
            "what is inconclusive now has to be asked for again.",
        )
    cite(holds.pk)
    return Change(
        columns={"confirmed_by": user, "at": at},
        reason=row.reason,
        after=rollout.candidate_digest,
        data=_about(row) | {"asked_by": row.asked_by.get_username(), "holds": holds.pk},
    )


def _refuse_hand(row: Override, user: User) -> None:
    if row.asked_by_id == user.pk:
        raise Forbidden("own_override", "You asked for it; a second person has to confirm it.")
    if Contributor.objects.filter(proposal=row.rollout.proposal_id, user=user).exists():
        raise Forbidden(
            "own_proposal", "You had a hand in this proposal; somebody else has to confirm it."
        )


def _person(actor: Actor) -> User:
    if actor.user is None:
        raise Forbidden("person_needed", "Only a person can override a verdict.")
    return actor.user


def _about(row: Override) -> dict[str, int]:
    return {
        "rollout": row.rollout_id,
        "stage": row.stage_index,
        "publication": row.publication,
        "evaluation": row.evaluation_id,
    }
