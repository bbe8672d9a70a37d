"""What a proposal waits for and what ended its earlier rounds, as its page shows it."""

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import available_timezones

from django.db.models import QuerySet

from accounts.guard import Actor, Permission, may
from controlplane.errors import BadInput, Conflict
from orchid.engine.wall_clock import zone_words
from policies.models import Product, Revision
from releases.lifecycle import Move, allowed
from releases.models import Comment, Proposal, Publication, SecondLook
from releases.selectors.live import generation_of
from releases.services import rebase
from releases.services.binding import current_revision
from releases.services.expiry import expires_at
from releases.services.hindrances import hindrances
from releases.services.issue import latest
from releases.services.second_look import why_not_look
from releases.services.waiting import goes_by_itself, is_missed
from releases.states import OPEN_PROPOSALS, OPEN_SECOND_LOOKS, WAITING_PROPOSALS, ProposalState


@dataclass(frozen=True)
class Waiting:
    """One proposal between its rounds and its publication, for one reader."""

    expires_at: datetime | None
    hindrances: list[Conflict]
    is_missed: bool
    by_itself: bool
    is_behind: bool
    zone_words: str
    comments: list[Comment]
    may_propose: bool
    may_reschedule: bool
    may_rebase: bool
    may_act_alone: bool


def waiting(actor: Actor, proposal: Proposal, now: datetime) -> Waiting:
    """Read what a proposal waits for."""
    slug = proposal.product.slug
    may_propose = may(actor, Permission.PROPOSE, slug)
    behind = is_behind(proposal)
    return Waiting(
        expires_at=expires_at(proposal) if proposal.state in WAITING_PROPOSALS else None,
        hindrances=hindrances(proposal, now) if proposal.state == ProposalState.APPROVED else [],
        is_missed=proposal.state == ProposalState.APPROVED and is_missed(proposal, now),
        by_itself=goes_by_itself(proposal),
        is_behind=behind,
        zone_words=_zone_words(proposal),
        comments=list(proposal.comments.order_by("at", "id")),
        may_propose=may_propose,
        may_reschedule=may_propose and allowed(proposal, Move.RESCHEDULE),
        may_rebase=may_propose and behind and allowed(proposal, Move.REBASE),
        may_act_alone=may(actor, Permission.EMERGENCY, slug) and allowed(proposal, Move.EMERGENCY),
    )


def zones() -> list[str]:
    """The names of the time zones that one writes: places and UTC, no historic spellings."""
    return ["UTC", *sorted(name for name in available_timezones() if _is_place(name))]


@dataclass(frozen=True)
class LookFact:
    """A second look as one reader sees it: why it isn't theirs, or that it is."""

    look: SecondLook
    revision: Revision | None
    why_not: str
    is_live: bool


def second_looks(actor: Actor, product: Product) -> list[LookFact]:
    """What still waits for a second look, then what was looked at, newest first."""
    rows = SecondLook.objects.filter(product=product).select_related("product", "publication")
    live = latest(product)
    facts = [_look_fact(actor, row, live) for row in rows[:100]]
    return sorted(facts, key=lambda fact: fact.look.state not in OPEN_SECOND_LOOKS)


def open_looks(product: Product) -> list[SecondLook]:
    """What still waits for a second look, the one that is due first before the others."""
    rows = SecondLook.objects.filter(product=product, state__in=OPEN_SECOND_LOOKS)
    return list(rows.select_related("publication").order_by("due_at"))


def _why_not(actor: Actor, look: SecondLook) -> str:
    if look.state not in OPEN_SECOND_LOOKS:
        return ""
    if not may(actor, Permission.APPROVE, look.product.slug):
        return "Your role here has no second look."
    return why_not_look(actor, look)


def _look_fact(actor: Actor, look: SecondLook, live: Publication | None) -> LookFact:
    revision = generation_of(look.product_id, look.publication.incumbent_digest)
    return LookFact(look, revision, _why_not(actor, look), look.publication == live)


def is_behind(proposal: Proposal) -> bool:
    """Whether it can still go out and was begun from something else than what is live now."""
    if proposal.state not in OPEN_PROPOSALS:
        return False
    revision = current_revision(proposal.generation)
    return rebase.is_behind(proposal, revision, latest(proposal.product))


def _zone_words(proposal: Proposal) -> str:
    if proposal.publish_at is None:
        return ""
    return zone_words(proposal.publish_at, proposal.publish_zone)


def _is_place(name: str) -> bool:
    return "/" in name and not name.startswith(("Etc/", "SystemV/", "US/", "posix/", "right/"))


def in_state(rows: QuerySet[Proposal], state: str) -> QuerySet[Proposal]:
    """Only those in a state; an empty one asks nothing. 400 for a state that there is not."""
    if not state:
        return rows
    if state not in ProposalState.values:
        known = ", ".join(ProposalState.values)
        raise BadInput("bad_state", f"There is no state {state}; the states are {known}.")
    return rows.filter(state=state)
