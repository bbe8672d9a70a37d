"""All that has to hold at the moment at which an approved proposal is published."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from controlplane.errors import Conflict
from orchid.engine.document.model import PolicyDocument
from policies.selectors import document_of
from releases.models import Proposal, Publication, Rollout, Vote
from releases.selectors.card import refuse_unproven
from releases.selectors.progress.ahead import warm
from releases.services.binding import moved, stale
from releases.services.expiry import expired, is_due
from releases.services.in_force import refuse_frozen, ruling_of
from releases.services.issue import latest
from releases.services.pools import refuse_overlap
from releases.services.propose import blocking_findings, record_contributors
from releases.services.quorum import approvals, lapsed, why_lapsed
from releases.services.second_look import refuse_overdue
from releases.states import OPEN_ROLLOUTS


@dataclass(frozen=True)
class Grounds:
    """What a publication of a proposal rests on at a moment, each read once."""

    row: Proposal
    now: datetime

    @cached_property
    def live(self) -> Publication | None:
        return latest(self.row.product)

    @cached_property
    def rules(self) -> PolicyDocument:
        """The document in force, never the one that asks to be."""
        return ruling_of(self.live, self.row)

    @cached_property
    def approvals(self) -> list[Vote]:
        """Those of people of whom it is known by now that they had no hand in it."""
        record_contributors(self.row)
        return approvals(self.row)


#: Asks one thing that a publication rests on; raises Conflict where it does not hold.
Check = Callable[[Grounds], None]


def hindrances(proposal: Proposal, now: datetime) -> list[Conflict]:
    """All that keeps an approved proposal from being published at this moment."""
    grounds = Grounds(proposal, now)
    return [refused for check in CHECKS if (refused := _refusal(check, grounds))]


def is_kept(proposal: Proposal, now: datetime) -> bool:
    """Whether anything does, for whoever asks again and again."""
    grounds = Grounds(proposal, now)
    return any(_refusal(check, grounds) for check in CHECKS)


def _refusal(check: Check, grounds: Grounds) -> Conflict | None:
    try:
        check(grounds)
    except Conflict as refused:
        return refused
    return None


def _check_round(grounds: Grounds) -> None:
    if is_due(grounds.row, grounds.now, grounds.rules):
        raise expired()


def _check_base(grounds: Grounds) -> None:
    row, live = grounds.row, grounds.live
    if (live.target_digest if live else "") != row.base_digest:
        raise Conflict(
            "base_changed",
            f"It was approved against publication {row.base_publication}; now "
            f"{live.number if live else 'nothing'} is live with other content. Rebase it on "
            "what is live, so that nothing of that is taken back unseen.",
        )


def _check_binding(grounds: Grounds) -> None:
    why = moved(grounds.row)
    if why:
        raise stale(why)


def _check_quorum(grounds: Grounds) -> None:
    why = why_lapsed(grounds.row, grounds.approvals)
    if why:
        gone = lapsed(grounds.approvals, grounds.row.product.slug)
        raise stale(why, "approval_lapsed" if gone else "approval_stale")


def _check_findings(grounds: Grounds) -> None:
    row = grounds.row
    found = blocking_findings(row.product, row.revision_digest, row.base_digest)
    if found:
        said = " ".join(finding["text"] for finding in found)
        raise Conflict("findings", f"The document breaks its own rules. {said}", errors=found)


def _check_proofs(grounds: Grounds) -> None:
    """What was there when people voted may have aged since."""
    refuse_unproven(grounds.row, grounds.now)


def _check_time(grounds: Grounds) -> None:
    row = grounds.row
    if row.publish_at is not None and grounds.now < row.publish_at:
        local = row.publish_local.replace("T", " ")
        raise Conflict("scheduled_later", f"It is to be published at {local} {row.publish_zone}.")


def _check_freeze(grounds: Grounds) -> None:
    refuse_frozen(grounds.rules.rollout, grounds.now)


def _check_second_look(grounds: Grounds) -> None:
    refuse_overdue(grounds.row.product)


def _check_room(grounds: Grounds) -> None:
    refuse_overlap(grounds.row.product, grounds.row.revision_digest, grounds.live)


def _check_warm(grounds: Grounds) -> None:
    """A first stage that takes traffic is entered by publishing, and none is entered cold."""
    row = grounds.row
    policy = document_of(row.revision_digest).rollout
    if not policy.warm_up or not policy.stages[0].fraction:
        return
    found = warm(row.product, row.revision_digest)
    if not found.met:
        raise Conflict("pool_not_warm", found.said)


def _check_no_rollout(grounds: Grounds) -> None:
    if Rollout.objects.filter(product=grounds.row.product, state__in=OPEN_ROLLOUTS).exists():
        raise Conflict("rollout_open", "A rollout is under way; it has to end first.")


CHECKS: tuple[Check, ...] = (
    _check_round,
    _check_base,
    _check_binding,
    _check_quorum,
    _check_no_rollout,
    _check_time,
    _check_freeze,
    _check_second_look,
    _check_room,
    _check_warm,
    _check_findings,
    _check_proofs,
)
