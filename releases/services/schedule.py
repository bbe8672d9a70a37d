"""When an approved proposal is to be published: a time on the wall of a named zone."""

from datetime import datetime, timedelta

from django.utils import timezone

from accounts.guard import Actor
from controlplane.errors import BadInput, Conflict, Invalid
from orchid.engine.freezes import free_from, frozen_at
from orchid.engine.wall_clock import YEARS, Reading, UnknownZone, read_wall, wall_at, zone_words
from releases.lifecycle import Change, Move, land
from releases.models import Contributor, Proposal
from releases.services.binding import evidence_digest, moved, reopen_if_moved, stale, void_votes
from releases.services.in_force import rollout_rules
from releases.states import Part, ProposalState

FURTHEST = timedelta(days=366)
WHICH = {"first": 0, "second": -1}


def reschedule(
    actor: Actor,
    proposal: Proposal,
    local: str,
    zone: str,
    which: str = "",
    *,
    expected_version: int | None = None,
    now: datetime | None = None,
) -> Proposal:
    """Set, move or (with an empty `local`) lift the time; votes of the round are void by it.

    422: `unknown_zone`, `time_does_not_exist` and `time_comes_twice` where the clocks of the zone
    change (`which` then says first or second), `time_is_past`, `time_is_far`, `frozen`. 409
    `approval_stale` where the text or its evidence moved since the round began.
    """
    at = now or timezone.now()
    said = (local.strip(), zone.strip(), which)
    try:
        return land(
            proposal,
            Move.RESCHEDULE,
            actor,
            lambda row: _rescheduled(row, actor, said, at),
            expected_version=expected_version,
        )
    except Conflict:
        reopen_if_moved(proposal)
        raise


def moment(local: str, zone: str, which: str = "") -> datetime:
    """The one instant that is meant (UTC); raises the problems of `reschedule`."""
    try:
        reading = read_wall(wall_of(local), zone)
    except UnknownZone as error:
        raise Invalid(
            "unknown_zone", f"{zone or 'Nothing'} is no time zone; write one as Europe/Berlin."
        ) from error
    return _chosen(reading, which)


def wall_of(local: str) -> datetime:
    """A time on the wall, to the minute. 400 for one that carries an offset."""
    try:
        wall = datetime.fromisoformat(local)
    except ValueError as error:
        raise BadInput("bad_local_time", "A time is written as 2026-12-01T09:00.") from error
    if wall.tzinfo is not None:
        raise BadInput("bad_local_time", "Give the time on the wall, and its zone apart from it.")
    if wall.year not in YEARS:
        raise BadInput("bad_local_time", f"A year lies between {YEARS[0]} and {YEARS[-1]}.")
    return wall.replace(second=0, microsecond=0)


def _chosen(reading: Reading, which: str) -> datetime:
    if not reading.instants:
        raise Invalid("time_does_not_exist", _gap_words(reading))
    if len(reading.instants) == 1:
        return reading.instants[0]
    if which not in WHICH:
        raise Invalid("time_comes_twice", _fold_words(reading))
    return reading.instants[WHICH[which]]


def _gap_words(reading: Reading) -> str:
    before = wall_at(reading.earliest - timedelta(seconds=1), reading.zone) + timedelta(seconds=1)
    after = wall_at(reading.earliest, reading.zone)
    return (
        f"{reading.local:%H:%M} never comes on {_day(reading.local)} in {reading.zone}: the clocks "
        f"go from {before:%H:%M} straight to {after:%H:%M}. Choose a time before the one or from "
        "the other on."
    )


def _fold_words(reading: Reading) -> str:
    first, second = (f"{at:%H:%M} UTC ({zone_words(at, reading.zone)})" for at in reading.instants)
    return (
        f"{reading.local:%H:%M} comes twice on {_day(reading.local)} in {reading.zone}: at {first} "
        f"and, once the clocks are put back, at {second}. Say which: first or second."
    )


def _day(local: datetime) -> str:
    return f"{local.day} {local:%B %Y}"


def _rescheduled(row: Proposal, actor: Actor, said: tuple[str, str, str], now: datetime) -> Change:
    local, zone, which = said
    at = moment(local, zone, which) if local else None
    if at is not None:
        _check_instant(row, at, zone, now)
    if at == row.publish_at and (zone if local else "") == row.publish_zone:
        raise Invalid("nothing_changes", "That is its time already.")
    if actor.owner is not None:
        Contributor.objects.get_or_create(proposal=row, user=actor.owner, part=Part.SCHEDULER)
    words = _words(local, zone) if local else "Its time was lifted"
    return Change(
        columns={
            "publish_at": at,
            "publish_local": f"{wall_of(local):%Y-%m-%dT%H:%M}" if local else "",
            "publish_zone": zone if local else "",
            **_new_round(row, words, now),
        },
        reason=words,
        after=row.revision_digest,
        data={"publish_at": at.isoformat() if at else None, "zone": zone, "round": row.round},
    )


def _new_round(row: Proposal, words: str, now: datetime) -> dict[str, object]:
    """The next round in place: what is reviewed stays, when it goes out is another.

    It rests on the evidence of this moment, or what came before it would count as seen by nobody.
    """
    if row.state == ProposalState.DRAFT:
        return {}
    why = moved(row)
    if why:
        raise stale(why)
    void_votes(row, words)
    return {
        "round": row.round + 1,
        "submitted_at": now,
        "evidence_digest": evidence_digest(row.product_id, row.revision_digest),
        "returned_why": words,
    }


def _words(local: str, zone: str) -> str:
    return f"Its time was set to {local.replace('T', ' ')} {zone}"


def _check_instant(row: Proposal, at: datetime, zone: str, now: datetime) -> None:
    if at <= now:
        raise Invalid(
            "time_is_past", "That time has gone by. Without a time it is published by hand."
        )
    if at - now > FURTHEST:
        raise Invalid("time_is_far", f"A time lies at most {FURTHEST.days} days ahead.")
    freezes = rollout_rules(row).freezes
    found = frozen_at(freezes, at)
    if found is not None:
        free = wall_at(free_from(freezes, at), zone)
        raise Invalid(
            "frozen",
            f"That time lies in the freeze “{found.freeze.name}”. The next free minute is "
            f"{free:%Y-%m-%d %H:%M} {zone}.",
        )
