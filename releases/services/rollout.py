"""Move a rollout: open its stage's clock, advance, complete, pause, resume."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from django.utils import timezone

from accounts.guard import SYSTEM_ACTOR, Actor
from controlplane.errors import BadInput, Conflict
from gates.services import cite
from policies.selectors import document_of
from releases.lifecycle import Change, Move, land
from releases.models import Rollout
from releases.selectors.progress import (
    Place,
    Progress,
    by_segment_of,
    places,
    progress,
    vector_of,
)
from releases.selectors.segments import concerned
from releases.services.in_force import refuse_frozen
from releases.services.issue import Serving, issue
from releases.services.second_look import refuse_overdue
from releases.states import PublicationKind


def open_stage(rollout: Rollout, at: datetime) -> Rollout:
    """Start the hold clock of the current stage at the moment enough of the traffic ran it."""
    return land(
        rollout,
        Move.OPEN_STAGE,
        SYSTEM_ACTOR,
        lambda row: _opened(row, rollout, at),
        expected_version=rollout.version,
    )


def advance(
    actor: Actor,
    rollout: Rollout,
    *,
    expected_version: int | None = None,
    now: datetime | None = None,
) -> Rollout:
    """Enter the next stage as a new publication. 409 `not_ready` says what is missing."""
    at = now or timezone.now()
    return land(
        rollout,
        Move.ADVANCE,
        actor,
        lambda row: _advanced(row, actor, at),
        expected_version=expected_version,
    )


def complete(rollout: Rollout, now: datetime) -> Rollout:
    """End a rollout whose last stage has passed; everyone is on the candidate already."""
    return land(
        rollout,
        Move.COMPLETE,
        SYSTEM_ACTOR,
        lambda row: _completed(row, now),
        expected_version=rollout.version,
    )


def pause(
    actor: Actor, rollout: Rollout, reason: str, *, expected_version: int | None = None
) -> Rollout:
    """Stay where it is: the exposure stays, the clock stops, nothing advances."""
    return _restated(actor, rollout, Move.PAUSE, PublicationKind.PAUSE, reason, expected_version)


def resume(
    actor: Actor, rollout: Rollout, reason: str, *, expected_version: int | None = None
) -> Rollout:
    """Go on at the same stage; its hold begins anew, on this publication's own requests.

    409 `frozen` in a freeze of what is live and `second_look_overdue` while an emergency was not
    looked at in time: both keep everything but a way back.
    """
    return _restated(actor, rollout, Move.RESUME, PublicationKind.RESUME, reason, expected_version)


def _opened(row: Rollout, seen: Rollout, at: datetime) -> Change:
    if row.stage_opened_at is not None or row.publication_id != seen.publication_id:
        raise Conflict("version_changed", "The stage has moved on.")
    return Change(
        columns={"stage_opened_at": at},
        after=row.candidate_digest,
        data={"publication": row.publication.number, "stage": row.stage_index},
    )


def _advanced(row: Rollout, actor: Actor, now: datetime) -> Change:
    """Everything that may move does so in one publication; what may not stays where it is."""
    found = progress(row, now)
    if found.is_last:
        raise Conflict("last_stage", "This is the last stage; it completes by itself.")
    if not found.ready:
        raise Conflict("not_ready", " ".join(found.blockers), blockers=found.blockers)
    _cited(found)
    moving = {lane.place.segment for lane in found.ready}
    stands = [
        replace(lane.place, stage=lane.place.stage + (lane.place.segment in moving))
        for lane in found.lanes
    ]
    change = _published(row, stands, PublicationKind.ADVANCE, actor, "", now)
    change.data["segments"] = moved(row, found, moving)
    return change


def moved(row: Rollout, found: Progress, moving: set[str]) -> list[str]:
    """The gated segments that go along: the rest moves every one that does not stand apart."""
    names = {segment.name for segment in document_of(row.candidate_digest).gates.segments}
    apart = {lane.place.segment for lane in found.lanes}
    along = moving | (names - apart if "" in moving else set())
    return concerned(row.product, row.candidate_digest, along)


def _completed(row: Rollout, now: datetime) -> Change:
    found = progress(row, now)
    if not found.is_last or found.waits_for:
        raise Conflict("not_ready", " ".join(found.blockers) or "There are stages to come.")
    _cited(found)
    return Change(
        columns={"closed_at": now},
        before=row.publication.incumbent_digest,
        after=row.candidate_digest,
        data={
            "publication": row.publication.number,
            "segments": concerned(row.product, row.candidate_digest),
        },
    )


def _cited(found: Progress) -> None:
    """Keep what the judgement rested on: the move rests on it from now on."""
    if found.evaluation is not None:
        cite(found.evaluation.pk)


def _restated(
    actor: Actor,
    rollout: Rollout,
    move: Move,
    kind: PublicationKind,
    reason: str,
    expected_version: int | None,
) -> Rollout:
    if not reason.strip():
        raise BadInput("reason_missing", f"Say why you {move} it.")
    now = timezone.now()
    return land(
        rollout,
        move,
        actor,
        lambda row: _again(row, kind, actor, reason.strip(), now),
        expected_version=expected_version,
    )


def _again(row: Rollout, kind: PublicationKind, actor: Actor, reason: str, now: datetime) -> Change:
    """The same exposure under another number."""
    if kind == PublicationKind.RESUME:
        refuse_frozen(document_of(row.publication.incumbent_digest).rollout, now)
        refuse_overdue(row.product)
    return _published(row, places(row), kind, actor, reason, now)


def _published(
    row: Rollout,
    stands: Sequence[Place],
    kind: PublicationKind,
    actor: Actor,
    reason: str,
    now: datetime,
) -> Change:
    """Take a number for where everything stands, the rest first.

    The clock of all starts again once the edges have acknowledged it: what was seen under one
    publication counts for no other.
    """
    document = document_of(row.candidate_digest)
    index = stands[0].stage
    fraction = document.rollout.stages[index].fraction
    apart = by_segment_of(document, stands)
    publication = issue(
        row.product,
        kind,
        Serving(
            row.publication.incumbent_digest, row.candidate_digest, fraction, index, tuple(apart)
        ),
        actor=actor.name,
        reason=reason,
        now=now,
    )
    return Change(
        columns={
            "publication": publication,
            "stage_index": index,
            "stage_opened_at": None,
            "vector": vector_of(stands),
            "reason": reason,
        },
        reason=reason,
        after=row.candidate_digest,
        data={
            "publication": publication.number,
            "stage": index,
            "fraction": fraction,
            "segments": concerned(row.product, row.candidate_digest),
        },
    )
