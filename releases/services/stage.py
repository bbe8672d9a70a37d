"""What people decide about a stage: a yes where the policy asks, and who waits or goes ahead."""

from collections.abc import Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.guard import Actor, confirmed, roles_of
from accounts.models import User
from controlplane.errors import BadInput, Conflict, Forbidden
from releases.lifecycle import Change, Move, land
from releases.models import Rollout, StageApproval
from releases.selectors.progress import Place, Progress, places, progress, refuse_apart, vector_of
from releases.selectors.segments import concerned
from releases.services.quorum import why_not_vote
from releases.services.rollout import moved


def approve_stage(
    actor: Actor,
    rollout: Rollout,
    reason: str,
    *,
    of: Sequence[str] = (),
    expected_version: int | None = None,
    now: datetime | None = None,
) -> Rollout:
    """Say yes to the next stage of everything that lacks nothing else.

    What is not ready yet asks again, be it a segment apart or the rest.

    403 for whoever had a hand in the proposal and for other roles than the policy asks; 409
    `not_ready` while something else is missing, `not_asked` where no approval is, and
    `segments_changed` where others are ready than those `of` which it was read to be.
    """
    at = now or timezone.now()
    return land(
        rollout,
        Move.APPROVE_STAGE,
        actor,
        lambda row: _approved(row, actor, reason.strip(), of, at),
        expected_version=expected_version,
    )


def hold_back(
    actor: Actor,
    rollout: Rollout,
    segment: str,
    reason: str,
    *,
    expected_version: int | None = None,
) -> Rollout:
    """Keep a segment at the stage where it stands while everything else goes on.

    Nobody's exposure changes, so nothing is published and no clock begins anew.
    """
    return land(
        rollout,
        Move.HOLD_BACK,
        actor,
        lambda row: _placed(row, segment, reason, held=True),
        expected_version=expected_version,
    )


def let_go(
    actor: Actor,
    rollout: Rollout,
    segment: str,
    reason: str,
    *,
    expected_version: int | None = None,
) -> Rollout:
    """Let a segment go on by its own verdicts: one that was held back, or one sent ahead.

    It takes each stage as soon as its own hold and gates have passed, whatever the rest waits for.
    """
    return land(
        rollout,
        Move.LET_GO,
        actor,
        lambda row: _placed(row, segment, reason, held=False),
        expected_version=expected_version,
    )


def asked_role(found: Progress) -> str:
    """The role whose yes is all that something waits for; empty where nothing does."""
    return next((lane.stage.approval or "" for lane in found.lacks_a_yes), "")


def _approved(row: Rollout, actor: Actor, reason: str, of: Sequence[str], now: datetime) -> Change:
    found = progress(row, now)
    user, role = _approver(row, actor, found)
    asked = [lane.place for lane in found.lacks_a_yes]
    stage, names = asked[0].stage, [place.segment for place in asked]
    _refuse_others(found, of)
    confirmed(actor)  # nothing else is waited for: the next tick goes on
    if not reason:
        raise BadInput("reason_missing", "Say what lets you approve; it stays with the rollout.")
    try:
        with transaction.atomic():
            StageApproval.objects.create(
                rollout=row,
                publication=row.publication,
                stage_index=stage,
                segments=names,
                user=user,
                role=role,
                reason=reason,
                evaluation=found.evaluation,
                at=now,
            )
    except IntegrityError as error:
        raise Conflict("already_approved", "You have approved this stage.") from error
    return Change(
        reason=reason,
        after=row.candidate_digest,
        data={
            "publication": row.publication.number,
            "stage": stage,
            "role": role,
            "segments": moved(row, found, set(names)),
        },
    )


def _refuse_others(found: Progress, of: Sequence[str]) -> None:
    """A yes goes no further than what was before somebody's eyes."""
    if of and set(of) != {lane.place.segment for lane in found.lacks_a_yes}:
        names = ", ".join(lane.name for lane in found.lacks_a_yes)
        said = f"By now your approval is asked for {names}. Look at that before you give it."
        raise Conflict("segments_changed", said)


def _approver(row: Rollout, actor: Actor, found: Progress) -> tuple[User, str]:
    """The person and the role that they approve in; whoever isn't asked, or not yet, is refused."""
    if not any(lane.stage.approval for lane in found.lanes):
        raise Conflict("not_asked", "The policy asks for nobody’s approval at this stage.")
    role = asked_role(found)
    if not role:
        said = " ".join(found.blockers) or "Nothing waits for an approval now."
        raise Conflict("not_ready", said, blockers=found.blockers)
    why = why_not_vote(actor, row.proposal)
    if why or actor.user is None:
        raise Forbidden("own_proposal", why)
    if role not in roles_of(actor, row.product.slug):
        raise Forbidden("role_not_asked", f"This stage asks for {role}; you are none.")
    return actor.user, role


def _placed(row: Rollout, segment: str, reason: str, *, held: bool) -> Change:
    """A segment gets a place of its own where it stands already."""
    if not reason.strip():
        raise BadInput("reason_missing", "Say why this segment is to go another way.")
    refuse_apart(row, segment)
    stands = places(row)
    known = next((place for place in stands if place.segment == segment), None)
    stage = known.stage if known else row.stage_index
    others = [place for place in stands if place.segment != segment]
    stands = [others[0], *sorted([*others[1:], Place(segment, stage, held)], key=_name)]
    return Change(
        columns={"vector": vector_of(stands)},
        reason=reason.strip(),
        after=row.candidate_digest,
        data={
            "segment": segment,
            "segments": concerned(row.product, row.candidate_digest, [segment]),
            "stage": stage,
            "publication": row.publication.number,
        },
    )


def _name(place: Place) -> str:
    return place.segment
