"""What waits for a person before, beside and after a review."""

from collections.abc import Iterator
from datetime import datetime

from django.urls import reverse

from accounts.guard import person
from accounts.models import User
from accounts.roles import Permission
from policies.models import Product
from releases.models import Override, Proposal, SecondLook
from releases.selectors.review import review
from releases.services.facts.fact import Fact, others, said, those_who
from releases.services.hindrances import hindrances
from releases.services.second_look import why_not_look
from releases.services.waiting import is_missed
from releases.states import (
    OPEN_SECOND_LOOKS,
    NoticeKind,
    OverrideState,
    ProposalState,
    SecondLookState,
)

#: Where a proposal is after a round of it ended early.
ENDED_EARLY = (ProposalState.DRAFT, ProposalState.IN_REVIEW)


def reviewing(product: Product, now: datetime, since: datetime) -> Iterator[Fact]:
    """What waits for votes, for its publication, for a second look or a second person."""
    yield from _reviews(product)
    yield from _missed(product, now)
    yield from _returned(product, now)
    yield from _second_looks(product)
    yield from _overdue(product)
    yield from _overrides(product, since)


def _reviews(product: Product) -> Iterator[Fact]:
    """A round that waits for votes, and what waits to be published; each told once."""
    states = (ProposalState.IN_REVIEW, ProposalState.APPROVED)
    for row in Proposal.objects.filter(product=product, state__in=states):
        is_voting = row.state == ProposalState.IN_REVIEW
        asked = _voters(product, row) if is_voting else those_who(product, Permission.PUBLISH)
        words = "Your approval is asked." if is_voting else "It is approved, to be published."
        yield Fact(
            NoticeKind.WAITS,
            f"proposal:{row.pk}:{row.round}:{row.state}",
            row.title,
            words,
            _page(row),
            row.submitted_at or row.created_at,
            asked,
        )


def _voters(product: Product, proposal: Proposal) -> Iterator[User]:
    return (
        user
        for user in those_who(product, Permission.APPROVE)
        if review(person(user), proposal).may_vote
    )


def _missed(product: Product, now: datetime) -> Iterator[Fact]:
    """A time that went by: from here on only a person publishes it, or sets another."""
    rows = Proposal.objects.filter(product=product, state=ProposalState.APPROVED)
    for row in rows.exclude(publish_at=None):
        if row.publish_at is None or not is_missed(row, now):
            continue
        yield Fact(
            NoticeKind.WAITS,
            f"proposal:{row.pk}:{row.round}:missed",
            f"{row.title}: its time went by",
            f"It was to be published at {row.publish_words} {row.publish_zone}, and could not be. "
            f"{_kept_by(row, now) or 'It is published by hand now, or gets another time.'}",
            _page(row),
            row.publish_at,
            those_who(product, Permission.PUBLISH),
        )


def _kept_by(row: Proposal, now: datetime) -> str:
    """What keeps it still, first what has to be done first; empty where a hand is all it lacks."""
    return next((refused.detail for refused in hindrances(row, now)), "")


def _returned(product: Product, now: datetime) -> Iterator[Fact]:
    """A round that ended before its time, to whoever answers for the proposal."""
    ended = Proposal.objects.filter(product=product, state__in=ENDED_EARLY)
    for row in ended.exclude(returned_why="").select_related("author_user", "owner_user"):
        is_draft = row.state == ProposalState.DRAFT
        then = "Submit it again when it is ready." if is_draft else "It is voted on anew."
        yield Fact(
            NoticeKind.WAITS,
            f"proposal:{row.pk}:{row.round}:returned",
            f"{row.title}: round {row.round - 1} of its review is over",
            f"{said(row.returned_why)}. Its votes are void. {then}",
            _page(row),
            now,
            _authors(row),
        )


def _authors(proposal: Proposal) -> list[User]:
    """The author, or the person who answers for the machine that proposed it."""
    found = proposal.author_user or proposal.owner_user
    return [found] if found is not None and found.is_active else []


def _second_looks(product: Product) -> Iterator[Fact]:
    looks = SecondLook.objects.filter(product=product, state__in=OPEN_SECOND_LOOKS)
    for row in looks.select_related("publication", "product"):
        asked = those_who(product, Permission.APPROVE)
        yield Fact(
            NoticeKind.WAITS,
            f"second_look:{row.pk}",
            f"{row.get_kind_display()}: a second look is owed",
            f"{row.actor} acted alone: {row.reason}",
            reverse("releases:second-looks", args=[product.slug]),
            row.opened_at,
            _lookers(asked, row),
        )


def _lookers(asked: Iterator[User], look: SecondLook) -> Iterator[User]:
    return (user for user in asked if not why_not_look(person(user), look))


def _overdue(product: Product) -> Iterator[Fact]:
    """A second look that nobody took in time, and what it keeps from going out meanwhile."""
    looks = SecondLook.objects.filter(product=product, state=SecondLookState.OVERDUE)
    for row in looks.select_related("publication", "product"):
        yield Fact(
            NoticeKind.WAITS,
            f"second_look:{row.pk}:overdue",
            f"{row.get_kind_display()}: its second look is overdue",
            f"{row.actor} acted alone: {said(row.reason)}. Until somebody looks at it, nothing "
            "is published and no rollout goes on; pauses, rollbacks and other emergencies go out.",
            reverse("releases:second-looks", args=[product.slug]),
            row.due_at,
            _lookers(those_who(product, Permission.APPROVE), row),
        )


def _overrides(product: Product, since: datetime) -> Iterator[Fact]:
    """An override that waits for its second person."""
    rows = Override.objects.filter(product=product, state=OverrideState.ASKED, asked_at__gte=since)
    for row in rows.select_related("asked_by"):
        yield Fact(
            NoticeKind.WAITS,
            f"override:{row.pk}",
            f"An override of publication {row.publication} waits for a second person",
            f"{row.asked_by}: {row.reason}",
            reverse("releases:rollout", args=[product.slug]),
            row.asked_at,
            others(those_who(product, Permission.OVERRIDE), row.asked_by_id),
        )


def _page(proposal: Proposal) -> str:
    return reverse("releases:proposal", args=[proposal.product.slug, proposal.pk])
