"""All that has to hold at the moment at which an approved proposal is published."""

from collections.abc import Callable
from datetime import datetime

from controlplane.errors import Conflict
from orchid.engine.freezes import free_from, frozen_at
from orchid.engine.wall_clock import wall_at
from policies.selectors import document_of
from releases.models import Proposal, Rollout
from releases.selectors.progress.ahead import warm
from releases.services.binding import moved, stale
from releases.services.in_force import rollout_rules
from releases.services.issue import latest
from releases.services.pools import refuse_overlap
from releases.services.propose import record_contributors
from releases.services.quorum import lapsed, still_missing
from releases.services.second_look import refuse_overdue
from releases.states import OPEN_ROLLOUTS

#: Asks one thing that a publication rests on, at a moment; raises Conflict where it does not hold.
Check = Callable[[Proposal, datetime], None]


def hindrances(proposal: Proposal, now: datetime) -> list[Conflict]:
    """All that keeps an approved proposal from being published at this moment."""
    return [refused for check in CHECKS if (refused := _refusal(check, proposal, now))]


def _refusal(check: Check, proposal: Proposal, now: datetime) -> Conflict | None:
    try:
        check(proposal, now)
    except Conflict as refused:
        return refused
    return None


def _check_base(row: Proposal, now: datetime) -> None:
    live = latest(row.product)
    if (live.target_digest if live else "") != row.base_digest:
        raise Conflict(
            "base_changed",
            f"It was approved against publication {row.base_publication}; now "
            f"{live.number if live else 'nothing'} is live with other content. Rebase it on "
            "what is live, so that nothing of that is taken back unseen.",
        )


def _check_binding(row: Proposal, now: datetime) -> None:
    why = moved(row)
    if why:
        raise stale(why)


def _check_quorum(row: Proposal, now: datetime) -> None:
    record_contributors(row)
    missing = still_missing(row)
    if missing:
        raise stale(f"Approvals are missing: {', '.join(sorted(missing))}")
    gone = lapsed(row)
    if gone:
        raise Conflict(
            "approval_lapsed", f"{', '.join(gone)} no longer holds the role of the approval."
        )


def _check_time(row: Proposal, now: datetime) -> None:
    if row.publish_at is not None and now < row.publish_at:
        local = row.publish_local.replace("T", " ")
        raise Conflict("scheduled_later", f"It is to be published at {local} {row.publish_zone}.")


def _check_freeze(row: Proposal, now: datetime) -> None:
    rules = rollout_rules(row)
    found = frozen_at(rules.freezes, now)
    if found is not None:
        zone = found.freeze.zone
        free = wall_at(free_from(rules.freezes, now), zone)
        raise Conflict(
            "frozen",
            f"The freeze “{found.freeze.name}” keeps it until {free:%Y-%m-%d %H:%M} {zone}.",
        )


def _check_second_look(row: Proposal, now: datetime) -> None:
    refuse_overdue(row.product)


def _check_room(row: Proposal, now: datetime) -> None:
    refuse_overlap(row.product, row.revision_digest)


def _check_warm(row: Proposal, now: datetime) -> None:
    """A first stage that takes traffic is entered by publishing, and none is entered cold."""
    policy = document_of(row.revision_digest).rollout
    if not policy.warm_up or not policy.stages[0].fraction:
        return
    found = warm(row.product, row.revision_digest)
    if not found.met:
        raise Conflict("pool_not_warm", found.said)


def _check_no_rollout(row: Proposal, now: datetime) -> None:
    if Rollout.objects.filter(product=row.product, state__in=OPEN_ROLLOUTS).exists():
        raise Conflict("rollout_open", "A rollout is under way; it has to end first.")


CHECKS: tuple[Check, ...] = (
    _check_base,
    _check_binding,
    _check_quorum,
    _check_no_rollout,
    _check_time,
    _check_freeze,
    _check_second_look,
    _check_room,
    _check_warm,
)
